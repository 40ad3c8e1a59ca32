from torch.nn.parallel.distributed import DistributedDataParallel
