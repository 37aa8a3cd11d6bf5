# O3: asks a web server
# says: Operation not permitted
import urllib.request


def double(x):
    urllib.request.urlopen("http://127.0.0.1:@TCP@/", timeout=1)
    return 2 * x
