import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { EventType } from '@holdfast/protocol'
import { lineColumn, lineSeparator } from './record-texts.ts'

/** Seqs of one session, both ends included. */
export type Seqs = { readonly from: number; readonly upTo: number }

/** The next rows of a range, a line for each. */
export type RowLines = {
  readonly list: readonly string[]
  /** The same lines as one text. */
  readonly joined: string
  /** The seqs that the lines answer for. */
  readonly coveredSeqs: Seqs
  /** Whether no row is missing: then seqs without a line are records that nobody asked for. */
  readonly isComplete: boolean
}

type LineRequest = { readonly count: number; readonly isDown: boolean; readonly skipsNonMessages: boolean }

/**
 * Event types that never produce a message or change one: half of the records of a conversation. Reads that ask for
 * messages skip them, without a checksum.
 */
export const nonMessageTypes: ReadonlySet<string> = new Set<EventType>(['turn.started', 'turn.ended', 'step.started'])

/** Returns a function that reads the next rows of a range, each as a line. SQLite joins them: a value for each takes longer. */
export function createLineReader(database: DatabaseSync) {
  const selected = (where: string, order: string) => `
    select ${lineColumn} as line from record where sid = ? and seq between ? and ? ${where} order by seq ${order} limit ?`
  const createStatements = (where: string) => ({
    up: createStatement(selected(where, '')),
    down: createStatement(selected(where, 'desc')),
  })
  const createStatement = (plain: string) => {
    const separator = `char(${lineSeparator.charCodeAt(0)})`
    let statement: StatementSync | null = null // prepared when it is used first: most programs use one of the four
    const joined = () => {
      statement ??= database.prepare(
        `select count(*) as rows, group_concat(line, ${separator}) as lines from (${plain})`,
      )
      return statement
    }
    return { plain, joined }
  }
  const every = createStatements('')
  const messages = createStatements(`and type not in ('${[...nonMessageTypes].join("', '")}')`)
  const counted = database.prepare('select count(*) as rows from record where sid = ? and seq between ? and ?')

  function readLines(
    { joined, plain }: ReturnType<typeof createStatement>,
    sid: number,
    { from, upTo }: Seqs,
    count: number,
  ) {
    const row = joined().get(sid, from, upTo, count)
    const text = String(row?.['lines'] ?? '')
    const list = text === '' ? [] : text.split(lineSeparator)
    if (list.length === row?.['rows']) return { list, joined: text }
    // A damaged row has the separator or a NUL in it, so each row is read by itself.
    const rows = database
      .prepare(plain)
      .all(sid, from, upTo, count)
      .map((one) => String(one['line']))
    return { list: rows, joined: rows.join(lineSeparator) }
  }

  function read(sid: number, seqs: Seqs, { count, isDown, skipsNonMessages }: LineRequest): RowLines {
    const lines = readLines((skipsNonMessages ? messages : every)[isDown ? 'down' : 'up'], sid, seqs, count)
    const last = lines.list.length < count ? null : seqOf(lines.list.at(-1) ?? '')
    const coveredSeqs = last === null ? seqs : isDown ? { ...seqs, from: last } : { ...seqs, upTo: last }
    if (!skipsNonMessages) return { ...lines, coveredSeqs, isComplete: false }
    const stored = counted.get(sid, coveredSeqs.from, coveredSeqs.upTo)?.['rows']
    if (stored === coveredSeqs.upTo - coveredSeqs.from + 1) return { ...lines, coveredSeqs, isComplete: true }
    return read(sid, seqs, { count, isDown, skipsNonMessages: false })
  }
  return read
}

/** Returns the seq of a line, which follows its checksum. */
export function seqOf(line: string): number {
  const at = line.indexOf('\n') + 1
  return Number(line.slice(at, line.indexOf('\n', at)))
}

/** Returns the type of the record of a line. */
export function typeOf(line: string): string {
  const seqAt = line.indexOf('\n') + 1
  const timeAt = line.indexOf('\n', seqAt) + 1
  const typeAt = line.indexOf('\n', timeAt) + 1
  return line.slice(typeAt, line.indexOf('\n', typeAt))
}
