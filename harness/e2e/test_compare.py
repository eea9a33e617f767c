"""`highwater compare` as far as it can be refused: a whole comparison takes minutes."""
import os


def test_what_is_refused_leaves_no_folder_and_names_no_seed(highwater):
    """Exit status 64, the sentence alone, nothing on the disk."""
    out = highwater.out()
    result = highwater("compare", "--target", "none-such", "--out", out)
    assert result.status == 64, result.err
    assert result.last_line().startswith("highwater: unknown target `none-such`"), result.err
    assert not os.path.exists(out)
