import { blobEventTypes, blobsOf } from '@holdfast/core'
import { Event, type EventType } from '@holdfast/protocol'
import { describe, expect, it } from 'vitest'
import { oneOfEach } from './sample-records.ts'

type Named = { readonly key: string; readonly hash: string }

/** Hashes of arguments and of files name no stored blob. */
const isBlob = ({ key }: Named): boolean => !['argsHash', 'contentHash', 'after', 'seen'].includes(key)

/** Returns the value with a new hash in place of each hash, and the new hashes. */
function withOwnHashes(value: unknown): { readonly value: unknown; readonly named: readonly Named[] } {
  const named: Named[] = []
  function walk(one: unknown, key: string): unknown {
    if (typeof one === 'string' && /^[0-9a-f]{64}$/.test(one)) {
      const hash = named.length.toString(16).padStart(64, '0')
      named.push({ key, hash })
      return hash
    }
    if (Array.isArray(one)) return one.map((part) => walk(part, key))
    if (one === null || typeof one !== 'object') return one
    return Object.fromEntries(
      Object.entries(one).map(([name, part]) => [name, walk(part, key === 'seen' ? 'seen' : name)]),
    )
  }
  return { value: walk(value, ''), named }
}

const output = { text: 'half', blob: { hash: 'a'.repeat(64), bytes: 9 } }
const settled = { type: 'call.settled' as const, call: 5, durationMs: 1 }
const beforeFile = { type: 'file', hash: 'b'.repeat(64), mode: 0o644 }
const events: readonly (readonly [string, unknown])[] = [
  ...Object.entries(oneOfEach),
  ['call.settled, ok', { ...settled, outcome: { type: 'ok', output } }],
  [
    'call.settled, with a file and its content before',
    { ...settled, outcome: { type: 'ok', output }, files: [{ path: 'a', change: 'deleted', before: beforeFile }] },
  ],
  ['call.settled, failed', { ...settled, outcome: { type: 'failed', output } }],
]

// A blob that no listed use refers to is deleted: a new event that names a blob must be listed in `blobsOf`.
describe('blobsOf', () => {
  it.each(events)('finds every blob that %s names', (_, event) => {
    const { value, named } = withOwnHashes(event)
    const expected = named.filter(isBlob).map(({ hash }) => hash)
    expect([...blobsOf(Event.parse(value))].toSorted()).toEqual(expected.toSorted())
  })

  it('finds blobs in the listed event types only', () => {
    const withBlobs = (Object.keys(oneOfEach) as EventType[]).filter((type) =>
      withOwnHashes(oneOfEach[type]).named.some(isBlob),
    )
    expect(withBlobs.toSorted()).toEqual(blobEventTypes.toSorted())
  })
})
