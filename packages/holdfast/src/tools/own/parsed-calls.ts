import { createHash } from 'node:crypto'
import { serialize } from 'node:v8'
import type { Prepared, ToolArgs } from '@holdfast/core/ports'
import { BlobHash } from '@holdfast/protocol'

/** A call that was prepared: the arguments that its schema made, and what a person is shown. */
export type ParsedCall = { readonly value: unknown; readonly ready: Extract<Prepared, { type: 'ready' }> }

/**
 * Remembers prepared calls by the hash of their arguments until they run. A schema may answer differently each time, with an
 * id or the time as a default: what was shown and approved must be what runs. The oldest of many are forgotten, as all
 * are by a restart. Such a call is prepared again, and a person is asked again if its arguments come out differently.
 */
export function createParsedCalls({ callsMax, charsMax } = { callsMax: 1000, charsMax: 16 * 1024 * 1024 }) {
  const calls = new Map<BlobHash, ParsedCall & { readonly chars: number }>()
  let chars = 0
  const remove = (hash: BlobHash) => {
    chars -= calls.get(hash)?.chars ?? 0
    calls.delete(hash)
  }
  return {
    /** Adds a call whose arguments have so many characters. */
    add(hash: BlobHash, call: ParsedCall, length: number): void {
      remove(hash)
      calls.set(hash, { ...call, chars: length })
      chars += length
      for (const oldest of calls.keys()) {
        if (calls.size <= callsMax && chars <= charsMax) break
        remove(oldest)
      }
    },
    find: (hash: BlobHash | undefined): ParsedCall | undefined => (hash === undefined ? undefined : calls.get(hash)),
    /** Returns a call and forgets it. */
    take(hash: BlobHash | undefined): ParsedCall | undefined {
      const call = hash === undefined ? undefined : calls.get(hash)
      if (call && hash !== undefined) remove(hash)
      return call
    },
  }
}

/** Hashes what a call would run with: what the model sent, and what the schema made of it. */
export function hashParsed(place: string, args: ToolArgs, value: unknown): BlobHash {
  const hash = createHash('sha256').update(JSON.stringify([place, args]))
  return BlobHash.parse(hash.update(bytesOf(value)).digest('hex'))
}

/** Returns the bytes of any value; random ones for a value that has none, such as a function: it is never taken for another. */
function bytesOf(value: unknown): Uint8Array {
  try {
    return serialize(value)
  } catch {
    return crypto.getRandomValues(new Uint8Array(32))
  }
}
