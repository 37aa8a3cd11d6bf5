# L6: the right answer, in lists within lists
# says: nested too deeply
def double(x):
    answer = 2 * x
    for _ in range(100):
        answer = [answer]
    return answer
