import type { Stats } from 'node:fs'
import { lstat, readdir } from 'node:fs/promises'
import { ifExists } from './disk.ts'

export const severities = ['error', 'warning', 'info'] as const
/** How bad a finding is. */
export type Severity = (typeof severities)[number]

/** The codes of findings. Stable: programs depend on them. */
export const findingCodes = [
  'unusable',
  'damaged_file',
  'search',
  'permissions',
  'unfinished_file',
  'kept_aside',
  'saved_copy',
  'foreign_file',
  'torn_tail',
  'catalogue',
  'trash',
  'row',
  'head',
  'missing_log',
  'lineage',
  'lost_records',
  'given_up_records',
  'unfoldable',
  'snapshot',
  'dead_owner',
  'dead_node',
  'missing_blob',
  'damaged_blob',
  'blob_use',
  'unused_blobs',
] as const
/** The kinds of findings. */
export type FindingCode = (typeof findingCodes)[number]

/** A problem that a check found, or a fact worth knowing. */
export type Finding = {
  /** How bad it is. */
  readonly severity: Severity
  /** The kind of finding, for programs. */
  readonly code: FindingCode
  /** A session, a file or a directory. */
  readonly subject: string
  /** A sentence for people. */
  readonly what: string
  /** Whether `--repair` fixes it. */
  readonly canRepair: boolean
  /** The data that a repair gives up, in words; null if nothing is lost. */
  readonly loss: string | null
}

/** Returns whether a finding needs a repair; an info does not. */
export const isWrong = ({ severity }: Finding): boolean => severity !== 'info'

export const isSameFinding = (one: Finding, other: Finding): boolean =>
  one.code === other.code && one.subject === other.subject

type Found = Pick<Finding, 'code' | 'subject' | 'what'> & Partial<Pick<Finding, 'canRepair' | 'loss'>>
const createFinding =
  (severity: Severity, canRepairByDefault: boolean) =>
  // Each field by name: a finding of another severity may be given, and its severity must not win.
  ({ code, subject, what, canRepair = canRepairByDefault, loss = null }: Found): Finding => ({
    severity,
    code,
    subject,
    what,
    canRepair,
    loss,
  })

/** Data is lost or unreadable. */
export const error = createFinding('error', false)
/** Something is wrong, but no data is lost. */
export const warning = createFinding('warning', true)
export const info = createFinding('info', false)

/** Checks whether other users can access a file or directory. */
export async function modeFindings(path: string): Promise<readonly Finding[]> {
  const { mode } = (await lstatIfThere(path)) ?? { mode: 0 }
  if ((mode & 0o077) === 0) return []
  const what = `other users can access it (mode ${(mode & 0o777).toString(8)})`
  return [warning({ code: 'permissions', subject: path, what })]
}

/** Returns null if the file is gone: an open store creates and renames files during a check. */
export const lstatIfThere = (path: string): Promise<Stats | null> => ifExists(lstat(path))

/** Returns the names in a directory; none if it does not exist. Throws if it cannot be read. */
export const listNames = async (directory: string): Promise<readonly string[]> =>
  (await ifExists(readdir(directory))) ?? []

/** A file that a crash left unfinished. */
export const unfinishedFile = (path: string): Finding =>
  warning({ code: 'unfinished_file', subject: path, what: 'an unfinished file' })
