def check(parameters):
    if not parameters:
        raise ValueError("this optimizer got no parameters")
