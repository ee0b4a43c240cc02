"""Reads a Chrome trace as Perfetto does, strictly, and says what is in it. Written from the trace event format alone.

Complete events ('X') of one (pid, tid) must nest or be apart: a reader pairs them by a stack, so two that merely overlap would swap their
ends or vanish. Instants are compared in integer nanoseconds, from the decimals as they are written.

  chrome_trace.py FILE...   ->  {"slices": [[file, process, thread, name, cat, start_ns, dur_ns, args]], "problems": [...], ...}
"""
import json, sys
from decimal import Decimal


def ns(value):
    scaled = value * 1000
    if scaled != int(scaled):
        raise ValueError('finer than a nanosecond: %s' % value)
    return int(scaled)


def read(path, out):
    with open(path, 'rb') as file:
        trace = json.loads(file.read().decode('utf-8'), parse_float=Decimal, parse_int=Decimal)
    processes, threads, slices = {}, {}, []
    for event in trace['traceEvents']:
        phase, pid = event['ph'], int(event['pid'])
        if phase == 'M':
            if event['name'] == 'process_name':
                processes[pid] = event['args']['name']
            elif event['name'] == 'thread_name':
                threads[pid, int(event['tid'])] = event['args']['name']
        elif phase == 'X':
            if event['ts'] < 0 or event['dur'] < 0:
                out['problems'].append('negative: %r' % event['name'])
            slices.append((pid, int(event['tid']), ns(event['ts']), ns(event['dur']), event))
        elif phase == 'i':
            out['instants'].append(event['name'])
            if event['ts'] < 0 or event.get('s') not in ('g', 'p', 't'):
                out['problems'].append('instant: %r' % event['name'])
        else:
            out['problems'].append('phase %r' % phase)
    stacks = {}
    for pid, tid, start, dur, event in sorted(slices, key=lambda one: (one[0], one[1], one[2], -one[3])):
        stack = stacks.setdefault((pid, tid), [])
        while stack and stack[-1] <= start:
            stack.pop()
        if stack and start + dur > stack[-1]:
            out['problems'].append('overlap on %d/%d at %d: %s' % (pid, tid, start, event['name']))
        stack.append(start + dur)
        if pid not in processes or (pid, tid) not in threads:
            out['problems'].append('row without a name: %d/%d' % (pid, tid))
        args = {key: float(value) if isinstance(value, Decimal) else value for key, value in event.get('args', {}).items()}
        out['slices'].append([path, processes.get(pid), threads.get((pid, tid)), event['name'], event['cat'], start, dur, args])
    out['other'].append({key: str(value) for key, value in trace['otherData'].items()})


out = {'slices': [], 'instants': [], 'problems': [], 'other': []}
for path in sys.argv[1:]:
    read(path, out)
json.dump(out, sys.stdout)
