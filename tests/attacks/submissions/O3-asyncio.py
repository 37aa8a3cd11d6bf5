# O3: connects by way of asyncio
# says: PermissionError
import asyncio


def double(x):
    asyncio.run(asyncio.open_connection("127.0.0.1", @TCP@))
    return 2 * x
