import type { Seq } from '@holdfast/protocol'
import type { LineMeta } from './log-line.ts'

/** The position of a record's line in its file, without the line break. */
export type LogPosition = { readonly offset: number; readonly bytes: number }

export type SelectRange = {
  /** Both ends included. */
  readonly from: Seq
  readonly upTo: Seq
  readonly limit: number
  readonly newestFirst: boolean
  readonly types: ReadonlySet<string> | null
}

/** Finds the records of a log by seq, type, call and command. Built by one scan and updated by each append. */
export interface LogIndex {
  head(): Seq
  /** Adds the last line; skipped seqs are lost. */
  add(facts: Pick<LineMeta, 'seq' | 'type' | 'ref' | 'commandId'>, position: LogPosition): void
  /** Moves the head to `seq`; seqs without a line are lost. */
  loseUpTo(seq: Seq): void
  /** Returns null for a lost record. */
  positionOf(seq: Seq): LogPosition | null
  select(range: SelectRange): readonly Seq[]
  /** Returns the seqs up to `upTo` that refer to these calls, in order. */
  refsTo(calls: readonly Seq[], upTo: Seq): readonly Seq[]
  seqOf(commandId: string): Seq | null
}

export function createLogIndex(base: Seq): LogIndex {
  const offsets: number[] = []
  /** 0 for a lost record. */
  const lengths: number[] = []
  const types: (string | null)[] = []
  const refs = new Map<Seq, Seq[]>()
  const commands = new Map<string, Seq>()
  const known = new Map<string, string>()
  const head = () => base + offsets.length

  /** Returns one string instance per type, to save memory. */
  function intern(type: string): string {
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
      types.push(intern(type))
      if (commandId !== null && !commands.has(commandId)) commands.set(commandId, seq)
      if (ref === null) return
      const others = refs.get(ref)
      if (others === undefined) refs.set(ref, [seq])
      else others.push(seq)
    },

    positionOf(seq) {
      const bytes = lengths[seq - base - 1] ?? 0
      return bytes === 0 ? null : { offset: offsets[seq - base - 1] ?? 0, bytes }
    },

    select({ from, upTo, limit, newestFirst, types: wanted }) {
      const seqs: Seq[] = []
      const last = Math.min(upTo, head())
      const step = newestFirst ? -1 : 1
      for (let seq = newestFirst ? last : from; seq >= from && seq <= last && seqs.length < limit; seq += step) {
        const type = types[seq - base - 1] ?? null
        // A lost record may have been of any type.
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
