"""The command line. Only here is the process touched: signals, logging configuration, event loop."""
