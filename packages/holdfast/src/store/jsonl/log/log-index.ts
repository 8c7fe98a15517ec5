import type { Seq } from '@holdfast/protocol'
import type { LineMeta } from './log-line.ts'

/** Where a record's line lies in its file, without its break. */
export type LogPosition = { readonly offset: number; readonly bytes: number }

export type PickRange = {
  /** Both ends included. */
  readonly from: Seq
  readonly upTo: Seq
  readonly limit: number
  readonly newestFirst: boolean
  readonly types: ReadonlySet<string> | null
}

/** Where each record of a session lies, and what it is asked for by. Built by one scan, kept in step by each append. */
export interface LogIndex {
  head(): Seq
  /** Takes a line at the end; seqs that were passed over are lost. */
  add(facts: Pick<LineMeta, 'seq' | 'type' | 'ref' | 'commandId'>, place: LogPosition): void
  /** Moves the head to `seq`; what has no line by then is lost. */
  loseUpTo(seq: Seq): void
  /** Null for a record that is lost. */
  placeOf(seq: Seq): LogPosition | null
  pick(range: PickRange): readonly Seq[]
  /** The seqs up to `upTo` that speak of these calls, in order. */
  refsTo(calls: readonly Seq[], upTo: Seq): readonly Seq[]
  seqOf(commandId: string): Seq | null
}

export function createLogIndex(base: Seq): LogIndex {
  const offsets: number[] = []
  /** 0 for a lost one. */
  const lengths: number[] = []
  const types: (string | null)[] = []
  const refs = new Map<Seq, Seq[]>()
  const commands = new Map<string, Seq>()
  const known = new Map<string, string>()
  const head = () => base + offsets.length

  /** One text for each type, not one for each record. */
  function interned(type: string): string {
    const first = known.get(type)
    if (first !== undefined) return first
    known.set(type, type)
    return type
  }

  function loseUpTo(seq: Seq): void {
    while (head() < seq) {
      offsets.push(0)
      lengths.push(0)
      types.push(null)
    }
  }

  return {
    head,
    loseUpTo,

    add({ seq, type, ref, commandId }, { offset, bytes }) {
      loseUpTo(seq - 1)
      offsets.push(offset)
      lengths.push(bytes)
      types.push(interned(type))
      if (commandId !== null && !commands.has(commandId)) commands.set(commandId, seq)
      if (ref === null) return
      const others = refs.get(ref)
      if (others === undefined) refs.set(ref, [seq])
      else others.push(seq)
    },

    placeOf(seq) {
      const bytes = lengths[seq - base - 1] ?? 0
      return bytes === 0 ? null : { offset: offsets[seq - base - 1] ?? 0, bytes }
    },

    pick({ from, upTo, limit, newestFirst, types: wanted }) {
      const seqs: Seq[] = []
      const last = Math.min(upTo, head())
      const step = newestFirst ? -1 : 1
      for (let seq = newestFirst ? last : from; seq >= from && seq <= last && seqs.length < limit; seq += step) {
        const type = types[seq - base - 1] ?? null
        // What cannot be read may have been of any type.
        if (wanted === null || type === null || wanted.has(type)) seqs.push(seq)
      }
      return seqs
    },

    refsTo: (calls, upTo) =>
      [...new Set(calls)]
        .flatMap((call) => refs.get(call) ?? [])
        .filter((seq) => seq <= upTo)
        .toSorted((left, right) => left - right),

    seqOf: (commandId) => commands.get(commandId) ?? null,
  }
}
