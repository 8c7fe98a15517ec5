/** Seeds that found a bug, by the bug. They are part of every run and never removed. */
const found = {
  'a request was built in one mode and sent in another': [1, 5],
  'the view of a client differed from the state between two records of a batch': [2],
  'a tool name or an unpaired surrogate from the model made every later request invalid': [2, 3],
  'the next step was never prepared after a change of mode': [6],
  'an append was reported as failed but stored, and its work was not started': [8, 21],
  'the owner of a session unloaded it after its log had moved': [18],
  'questions were shown in another order than they were asked': [36],
  'an approved call changed something in plan mode': [80, 390],
} as const satisfies Readonly<Record<string, readonly number[]>>

export const seedsThatFoundBugs: readonly number[] = Object.values(found).flat()
