import { writevSync } from 'node:fs'
import type { Store } from '@holdfast/core/ports'
import type { Result } from '@holdfast/protocol'
import { openStore } from './subject/store.ts'
import { appendTo, batchAfter, newSessionOf, recordAt, sessionOf, writerNode } from './workload.ts'

/** The operation on log 1 just before the power cut; `look` does nothing and returns what is there. */
export type Operation = 'create' | 'append' | 'fork' | 'import' | 'purge' | 'trash' | 'restore' | 'look'

export type OperationTask = {
  readonly kind: 'sqlite' | 'jsonl'
  readonly directory: string
  readonly operation: Operation
}

/** The state afterwards: the listed sessions, and how far each of them can be read. */
export type Seen = { readonly listed: readonly string[]; readonly heads: readonly number[] }

const logs = [1, 2]
const importedRecords = 300
const trashedAt = Date.UTC(2026, 1, 1)

const { kind, directory, operation }: OperationTask = JSON.parse(process.argv[2] ?? '')
const print = (text: string) => writevSync(1, [Buffer.from(text), Buffer.from('\n')])
const opened = await openStore(kind, directory)
if (!opened.ok) throw new Error(opened.fault.message)
const store = opened.value

async function must(result: Promise<Result<unknown>>): Promise<void> {
  const answer = await result
  if (!answer.ok) throw new Error(answer.fault.message)
}

/** The state before each operation, synced long before it. */
async function begin(): Promise<void> {
  if (operation === 'create' || operation === 'import') return
  await must(store.create(newSessionOf(1)))
  for (let head = 1, number = 0; number < 3; number++, head += batchAfter(head))
    await must(store.append(appendTo(1, head, 1)))
  if (operation === 'purge' || operation === 'trash' || operation === 'restore')
    await store.release(sessionOf(1), writerNode, 1)
  if (operation === 'restore') await must(store.trash(sessionOf(1), trashedAt))
}

async function act(of: Store): Promise<void> {
  switch (operation) {
    case 'create':
      return must(of.create(newSessionOf(1)))
    case 'append': {
      const { head } = (await of.entry(sessionOf(1))) ?? { head: 0 }
      return must(of.append(appendTo(1, head, 1)))
    }
    case 'fork':
      return must(of.create({ ...newSessionOf(2), parent: sessionOf(1), base: 1, records: [recordAt(2, 2)] }))
    case 'import': {
      const records = Array.from({ length: importedRecords }, (_, index) => recordAt(1, index + 1))
      return must(of.create({ ...newSessionOf(1), records }))
    }
    case 'purge':
      return must(of.purge(sessionOf(1)))
    case 'trash':
      return must(of.trash(sessionOf(1), trashedAt))
    case 'restore':
      return must(of.restore(sessionOf(1)))
    case 'look':
      return
    default:
      return operation satisfies never
  }
}

async function look(): Promise<Seen> {
  const { sessions } = await store.list({ limit: 100 })
  const heads: number[] = []
  for (const log of logs) {
    const records = await store.read(sessionOf(log), { after: 0, limit: 1000 })
    heads.push(records.some((record) => 'lost' in record) ? Number.NaN : records.length)
  }
  return { listed: sessions.map(({ meta }) => meta.id).toSorted(), heads }
}

if (operation === 'look') {
  print(JSON.stringify(await look()))
  await store.close()
} else {
  await begin()
  await act(store)
  print(JSON.stringify(await look())) // acknowledged: what is visible now must stay visible
  process.kill(process.pid, 'SIGSTOP')
}
