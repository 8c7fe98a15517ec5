import { join } from 'node:path'
import type { Result, SessionId } from '@holdfast/protocol'
import type { LogNumber } from '../workload.ts'

/** What the rows are run on. `inline` is SQLite without its workers: the same writer, opened in a millisecond. */
export type SubjectKind = 'sqlite' | 'inline' | 'jsonl' | 'blobs'

/** `lost` is a record that says of itself that it is damaged, `missing` one that is not there though a later one is. */
export type Read = string | 'lost' | 'missing'

/** A place that keeps numbered things one after another: what a row faults, and what P reads afterwards. */
export interface Subject {
  /** What is there, in order, each as a digest. `upTo` says how far to look where nothing lists them. */
  read(log: LogNumber, upTo: number): Promise<readonly Read[]>
  /** A part of any session, whoever wrote it. Blobs belong to none. */
  page(session: SessionId, after: number, limit: number): Promise<readonly Read[]>
  /** Keeps the next ones after `head`; the store's answer, as it is. */
  submit(log: LogNumber, head: number): Promise<Result<void>>
  /** Where the log stands; 0 when there is none. */
  head(log: LogNumber): Promise<number>
  close(): Promise<void>
}

export type Place = { readonly kind: SubjectKind; readonly directory: string }

export const databaseIn = (directory: string): string => join(directory, 'holdfast.db')
