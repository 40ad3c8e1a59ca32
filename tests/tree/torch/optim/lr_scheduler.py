class StepLR:  #! python torch.optim.lr_scheduler.StepLR,StepLR class
    pass
