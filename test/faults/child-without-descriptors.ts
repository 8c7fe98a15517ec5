import { closeSync, openSync, writevSync } from 'node:fs'
import { openSubject } from './open-subject.ts'
import type { SubjectLocation } from './subject/subject.ts'

// Uses up all file descriptors, makes a request that needs one, releases them and makes it again. Prints each answer as a
// line of JSON.
const [location, other]: readonly [SubjectLocation, SubjectLocation] = JSON.parse(process.argv[2] ?? '')
const held: number[] = []
const print = (step: string, answer: unknown) =>
  writevSync(1, [Buffer.from(JSON.stringify({ step, answer })), Buffer.from('\n')])

function takeAll(): void {
  for (;;) {
    try {
      held.push(openSync('/dev/null', 'r'))
    } catch {
      return // EMFILE: none is left
    }
  }
}

async function ask(step: string, log: number): Promise<void> {
  const sinceMs = performance.now()
  const opened = await openSubject(other)
  print(`${step}: open another`, opened.ok ? { ok: true } : { ...opened, afterMs: performance.now() - sinceMs })
  if (opened.ok) await opened.value.close()
  const fromMs = performance.now()
  const created = await subject.submit(log, 0)
  print(`${step}: create`, created.ok ? { ok: true } : { ...created, afterMs: performance.now() - fromMs })
}

const opened = await openSubject(location)
if (!opened.ok) throw new Error(opened.fault.message)
const subject = opened.value
print('create', await subject.submit(1, 0))
takeAll()
await ask('without', 2)
for (const one of held.splice(0)) closeSync(one)
await ask('with', 3)
await subject.close()
