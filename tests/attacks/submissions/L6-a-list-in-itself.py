# L6: a list that holds itself
# says: double(x)
def double(x):
    answer = []
    answer.append(answer)
    return answer
