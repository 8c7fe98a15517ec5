import { join } from 'node:path'
import type { Result, SessionId } from '@holdfast/protocol'
import type { LogNumber } from '../workload.ts'

/** The kinds of stores under test. `inline` is SQLite without workers: the same writer, opened in a millisecond. */
export type SubjectKind = 'sqlite' | 'inline' | 'jsonl' | 'blobs'

/** `lost` is a record that is reported as damaged; `missing` is one that is absent although a later one exists. */
export type Read = string | 'lost' | 'missing'

/** A store of numbered logs: a row faults it, and P reads it afterwards. */
export interface Subject {
  /** Returns all records in order, as digests. `upTo` is the limit if there is no list of them. */
  read(log: LogNumber, upTo: number): Promise<readonly Read[]>
  /** Returns a page of any session. Blobs belong to no session. */
  page(session: SessionId, after: number, limit: number): Promise<readonly Read[]>
  /** Appends the next records after `head`. Returns the store's answer. */
  submit(log: LogNumber, head: number): Promise<Result<void>>
  /** Returns the head of the log, or 0 if there is none. */
  head(log: LogNumber): Promise<number>
  close(): Promise<void>
}

export type SubjectLocation = { readonly kind: SubjectKind; readonly directory: string }

export const databaseIn = (directory: string): string => join(directory, 'holdfast.db')
