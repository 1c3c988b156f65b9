"""Wall two: the operating system. Worker processes, the layers around one run, and who supervises them."""
