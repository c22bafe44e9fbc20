"""The few loops that numpy cannot do in one pass, in C; whoever calls them has a way without them.

They are compiled when textgauge is installed, if there is a compiler.
"""
