import { errorMessage, type Fault, fault } from '@holdfast/protocol/fault'

type Reason =
  | 'unreachable'
  | 'denied'
  | 'no_database'
  | 'too_many_connections'
  | 'disk_full'
  | 'read_only'
  | 'busy'
  | 'damaged'
  | 'lacks_table'
  | 'not_durable'
  | 'io'

const sentences: Readonly<Record<Reason, string>> = {
  unreachable: 'the database does not answer; check that it runs and can be reached',
  denied: 'the database refused the user; check the name, the password and the rights in the URL',
  no_database: 'there is no such database; create it first',
  too_many_connections: 'the database has too many connections; raise its limit or use a pooler',
  disk_full: 'the disk of the database is full; free some space',
  read_only: 'the database is read-only; connect to the primary server',
  busy: 'other transactions held the same rows for too long; try again later',
  damaged: 'the database reports damaged data; see its log and restore a backup',
  lacks_table: 'a table or function is missing; restore a backup',
  not_durable:
    'its commits do not wait for the disk; set fsync and synchronous_commit to on, or add durability=unchecked to the URL',
  io: 'the database failed; see its log',
}

// The codes of the appendix "PostgreSQL Error Codes": whole codes first, then their classes.
const reasonOf: Readonly<Record<string, Reason>> = {
  '53100': 'disk_full',
  '53300': 'too_many_connections',
  '25006': 'read_only',
  '28000': 'denied',
  '28P01': 'denied',
  '42501': 'denied',
  '3D000': 'no_database',
  '42P01': 'lacks_table',
  '42883': 'lacks_table',
  '3F000': 'lacks_table',
  '40001': 'busy',
  '40P01': 'busy',
  '55P03': 'busy',
  '57014': 'busy',
  XX001: 'damaged',
  XX002: 'damaged',
  '57P01': 'unreachable',
  '57P02': 'unreachable',
  '57P03': 'unreachable',
  '57P05': 'unreachable',
}
const reasonOfClass: Readonly<Record<string, Reason>> = { '08': 'unreachable', '53': 'io', '58': 'io' }

/** Returns the SQLSTATE of an error, or null if the server did not report it. */
export function sqlStateOf(error: unknown): string | null {
  const code = error instanceof Error && 'code' in error ? error.code : null
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) && 'severity' in (error as object) ? code : null
}

/** Returns whether the transaction was rolled back only because of others, so that it can be repeated. */
export const isConflict = (error: unknown): boolean => ['40001', '40P01'].includes(sqlStateOf(error) ?? '')

/** Returns whether the connection ended. A statement that was sent may be committed or not. */
export const isConnectionLoss = (error: unknown): boolean => {
  const state = sqlStateOf(error)
  return state === null ? isNetworkError(error) : reasonFor(state) === 'unreachable'
}

const reasonFor = (state: string): Reason | null => reasonOf[state] ?? reasonOfClass[state.slice(0, 2)] ?? null

/** An error without a SQLSTATE comes from a socket or from the driver's own timers. */
const isNetworkError = (error: unknown): boolean =>
  error instanceof Error &&
  (('code' in error && typeof error.code === 'string' && /^(E[A-Z_]+)$/.test(error.code)) ||
    /connection terminated|timeout|client (has encountered|was closed)|cannot use a pool/i.test(error.message))

export const postgresFault = (name: string, reason: Reason, more?: Record<string, unknown>): Fault =>
  fault('storage_error', `The store at ${name} cannot be used: ${sentences[reason]}.`, { reason, ...more, path: name })

const [invalidText, notInEncoding] = ['22021', '22P05']

/** Converts an error of the driver or the server to a fault. `name` is the URL without a password. */
export function faultOfPostgres(error: unknown, name: string): Fault {
  const state = sqlStateOf(error)
  const message = errorMessage(error)
  if (state === invalidText || state === notInEncoding)
    return fault('bad_request', 'The text contains a NUL character, which the database cannot store.')
  const reason = state === null ? (isNetworkError(error) ? 'unreachable' : null) : reasonFor(state)
  if (reason !== null)
    return postgresFault(name, reason, { ...(state !== null && { sqlState: state }), error: message })
  return fault('internal', `The store failed: ${message}`, { path: name, ...(state !== null && { sqlState: state }) })
}

/** Returns whether a fault leaves open if a statement was committed. */
export const isLossFault = ({ details }: Fault): boolean => details?.['reason'] === 'unreachable'
