y_shape = (3, 4)
last_line = "TypeError"
