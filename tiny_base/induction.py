"""Write induction heads into a fresh Llama, so that it copies from its context before it is trained.

    write_embeddings(model.get_input_embeddings().weight, tokenizer)

Copying needs two attention heads in successive layers (Olsson et al. 2022, In-context Learning and Induction Heads).
The first notes which id precedes each position. The second finds an earlier position of the current id and repeats the
id after it. A run of two hours on two cores hardly learns them, so they are written into the weights before training.
"""

from typing import Any

ROPE_THETA = 1e6
EMBEDDING_STD, QUIET = 0.1, 0.3  # std of the initial embeddings; scale of the initial output weights of each block
PLACE_SCALE, MATCH_SCALE, COPY_SCALE = 2.0, 1.33, 2.5  # sharpness of the two kinds of heads; strength of copying


def write_embeddings(embeddings: Any, tokenizer: Any) -> None:
    """Write embeddings (V, hidden) for the heads below. d is the width of a head, hidden = 4 d.

    0..2d          identity of the token: noise, nearly the same for a word with and without a space before it
    2d..3d, 3d..   small initial weights; block 0 writes half the identity of the two tokens before into these
    last           a constant, for heads that attend by position
    """
    import torch

    ids, who = tokenizer.get_vocab(), embeddings.shape[1] // 2
    embeddings[:, :who] = torch.randn(len(embeddings), who) * EMBEDDING_STD
    for piece, at in sorted(ids.items()):
        bare = ids.get(piece[1:]) if piece.startswith("\u0120") else None
        if bare is not None:
            noise = torch.randn(who) * EMBEDDING_STD
            embeddings[at, :who] = 0.93 * embeddings[bare, :who] + 0.37 * noise
    embeddings[:, -1] = 4 * EMBEDDING_STD


def write_previous_id_heads(attention: Any) -> None:
    """Make heads 0 and 1 attend one and two positions back and copy half of the token's identity.

    All keys are one constant vector k. A query is k rotated back by n positions. With rotary positions the score is
    then the sum over frequencies w of cos(w (distance - n)), which is greatest at distance n.
    """
    import torch

    width, group, frequencies, eye = parts(attention)
    fast = frequencies[: 3 * len(frequencies) // 8]
    half, count = width // 2, len(fast)
    query, key, value, out = weights_of(attention)
    key[:width] = 0.0
    key[:count, -1] = PLACE_SCALE
    value[:width] = 0.0
    value[:width, :width] = eye
    for head in range(group):
        rows = slice(head * width, (head + 1) * width)
        query[rows] = 0.0
        query[rows][:count, -1] = PLACE_SCALE * torch.cos((head + 1) * fast)
        query[rows][half : half + count, -1] = -PLACE_SCALE * torch.sin((head + 1) * fast)
        out[:, rows] = 0.0
        out[(2 + head) * width : (3 + head) * width, rows] = 0.75 * EMBEDDING_STD * eye
    out[-1] = 0.0


def write_induction_heads(attention: Any) -> None:
    """Make the first query head of each group attend where this token and the one before occurred, and copy the next.

    A query holds the identities of this token and of the one before; a key those of the two tokens before it. The same
    random matrices map both onto the slow rotary frequencies, which hardly depend on distance.
    """
    import torch

    width, group, frequencies, eye = parts(attention)
    slow = [at for at in range(width) if at % len(frequencies) >= 7 * len(frequencies) // 16]
    now, before = (torch.nn.init.orthogonal_(torch.empty(len(slow), width)) * MATCH_SCALE for _ in range(2))
    query, key, value, out = weights_of(attention)
    for head in range(len(key) // width):
        keys = slice(head * width, (head + 1) * width)
        rows = slice(head * group * width, (head * group + 1) * width)
        query[rows], key[keys], value[keys], out[:, rows] = 0.0, 0.0, 0.0, 0.0
        query[rows][slow, :width], query[rows][slow, 2 * width : 3 * width] = now, before
        key[keys][slow, 2 * width : 3 * width], key[keys][slow, 3 * width :] = now, before
        key[keys][:, -1] = 0.0
        value[keys, keys] = eye
        out[keys, rows] = COPY_SCALE * EMBEDDING_STD * eye


def parts(attention: Any) -> tuple[int, int, Any, Any]:
    """A head's width d, query heads per key-value head, rotary frequencies (d / 2,), identity (d, d)."""
    import torch

    width = attention.head_dim
    frequencies = ROPE_THETA ** -torch.linspace(0, 1, width // 2 + 1)[:-1]
    return width, attention.num_key_value_groups, frequencies, torch.eye(width)


def weights_of(attention: Any) -> tuple[Any, Any, Any, Any]:
    """The weight matrices of query, key, value and output, as views that can be written."""
    return tuple(getattr(attention, f"{name}_proj").weight.data for name in "qkvo")
