# The world an operator acts in: dash at /usr/bin/dash, a busybox userland, one unprivileged user.
#     docker build -t sekft-dash .
# Without a registry:
#     sh runs/base_image.sh && docker build --build-arg BASE=sekft-base -t sekft-dash .
ARG BASE=alpine:3.20
FROM ${BASE}

# The substitute base brings dash with it; Alpine fetches it.
RUN if ! [ -x /usr/bin/dash ]; then apk add --no-cache dash; fi

# sandbox/containers.py says why this number.
ARG OPERATOR_UID=65531
LABEL sekft.uid=$OPERATOR_UID

# The copies that may be executed but not read carry the channel: a process that runs one cannot be looked into.
# Some Alpine releases have a system account named operator.
RUN ln -sf /usr/bin/dash /bin/sh \
    && for f in /etc/passwd /etc/group /etc/shadow; do if [ -f "$f" ]; then sed -i '/^operator:/d' "$f"; fi; done \
    && echo "operator:x:$OPERATOR_UID:$OPERATOR_UID:operator:/home/operator:/bin/sh" >> /etc/passwd \
    && echo "operator:x:$OPERATOR_UID:" >> /etc/group \
    && mkdir -p /usr/libexec \
    && for f in /bin/busybox /usr/bin/dash; do cp "$(readlink -f "$f")" "/usr/libexec/${f##*/}"; done \
    && chmod 0111 /usr/libexec/busybox /usr/libexec/dash \
    && mkdir -p /home/operator /usr/local/bin /run/op /run/operator \
    && chown "$OPERATOR_UID:$OPERATOR_UID" /home/operator /run/operator \
    && chmod 755 /home/operator /run/op /run/operator \
    && chmod 1777 /tmp

USER operator
WORKDIR /home/operator
CMD ["/usr/bin/dash"]
