"""Write induction heads into a fresh Llama, so that it copies from its context before it is trained.

    write_embeddings(model.get_input_embeddings().weight, tokenizer)

Copying needs two attention heads in successive layers (Olsson et al. 2022, In-context Learning and Induction Heads).
The first notes which id precedes each position. The second finds an earlier position of the current id and repeats the
id after it. A run of two hours on two cores hardly learns them, so they are written into the weights before training.
"""

from typing import Any

ROPE_THETA = 1e6
EMBEDDING_STD, QUIET = 0.1, 0.3  # of the first weights; what blocks add to the stream is scaled down by the latter
PLACE_SCALE, MATCH_SCALE, COPY_SCALE = 2.0, 1.33, 2.5  # of the first heads: how sharply they look, how loud they copy


def write_embeddings(embeddings: Any, tokenizer: Any) -> None:
    """Lay out (V, hidden) for the heads below; d is a head's width, hidden = 4 d.

    0..2d          who the id is: noise, nearly the same for a word with and without a space before it
    2d..3d, 3d..   kept quiet: block 0 writes there which id came before, and which before that
    last           a constant, for heads that look at places and not at ids
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
    """Query heads 0 and 1 look one and two places back, whatever stands there, and write half of who it is.

    Keys are one constant vector k; a query is k turned back by n places, so that with rotary positions the score is
    the sum over frequencies w of cos(w (distance - n)), greatest at distance n.
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
    """The first query head of each group finds where this id and the one before it came earlier, and copies the next.

    A query is who this id is and who came before; a key is who came one and two places before. Both are mapped by the
    same random matrices onto the slow rotary frequencies, which hardly depend on distance.
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
    """The weight matrices of query, key, value and output, to be written into."""
    return tuple(getattr(attention, f"{name}_proj").weight.data for name in "qkvo")
