import { fault } from '@holdfast/protocol/fault'
import { ok, type Result, refuse } from '@holdfast/protocol/result'

/** Where a store in PostgreSQL is. */
export type PostgresLocation = {
  readonly kind: 'postgres'
  /** The URL without a password, for people. */
  readonly url: string
  /** The URL as it was given, with the password. Never shown. */
  readonly secretUrl: string
  /** The URL for the driver, with the password. Never shown. */
  readonly connection: string
  /**
   * Where notices of changes are listened for: `listen=URL` for a connection past a pooler, `listen=off` for none. By default
   * the same database. Never shown.
   */
  readonly listen: string | null
  /** The schema that has the tables. */
  readonly schema: string
  /** How long a node counts as alive after it renewed: `term=MILLISECONDS`. */
  readonly termMs: number
  /** Whether commits may wait for no disk: `durability=unchecked`. */
  readonly mayLoseData: boolean
}

const form = /^postgres(?:ql)?:\/\/(?:([^@/?#]*)@)?([^@/?#]*)(?:\/([^?#]*))?(?:\?([^#]*))?$/
/** A host with its port. Several may be given, and none for a socket of this machine. */
const hostForm = /^(?:\[[^\]]*\]|[^:,[\]]*)(?::\d*)?(?:,(?:\[[^\]]*\]|[^:,[\]]*)(?::\d*)?)*$/
const schemaForm = /^[a-z_][a-z0-9_]{0,47}$/
/** Takeover after a kill takes as long as a term, at most. Turns survive an outage of little more than half of it. */
const termMsDefault = 4000
const [termMsMin, termMsMax] = [300, 60_000]
const secretParameter = /^(password|sslpassword|sslkey)$/i

/** Returns whether a text is meant as the URL of a PostgreSQL store. */
export const isPostgresUrl = (text: string): boolean => /^postgres(ql)?:/.test(text)

/** Parses `postgres://user:password@host:port/database?schema=name`. No fault shows the password. Refused: bad_request. */
export function parsePostgresUrl(text: string): Result<PostgresLocation> {
  const found = form.exec(text)
  const [, login = '', host = '', database = '', query = ''] = found ?? []
  // An unencoded `/` or `?` in a password makes its first part a port and the rest a database or a parameter.
  const isCut = login === '' && (database.includes('@') || /^[^=&]*@/.test(query))
  if (found === null || isCut || !hostForm.test(host))
    return refuse(badUrl('It is not a valid URL; encode special characters of the password'))
  const parameters = new URLSearchParams(query)
  const schema = parameters.get('schema') ?? 'holdfast'
  if (!schemaForm.test(schema))
    return refuse(badUrl('The schema may have up to 48 lower-case letters, digits and underscores'))
  const durability = parameters.get('durability')
  if (durability !== null && durability !== 'unchecked') return refuse(badUrl('The durability can only be unchecked'))
  const termMs = Number(parameters.get('term') ?? termMsDefault)
  if (!Number.isInteger(termMs) || termMs < termMsMin || termMs > termMsMax)
    return refuse(badUrl(`The term is a number of milliseconds from ${termMsMin} to ${termMsMax}`))
  const listen = parameters.get('listen')
  const direct = listen === null || listen === 'off' ? null : parsePostgresUrl(listen)
  if (direct?.ok === false)
    return refuse(badUrl('listen is off, or the URL of the same database past the pooler, encoded'))
  for (const own of ['schema', 'durability', 'term', 'listen']) parameters.delete(own)

  const end = (more: URLSearchParams) => (more.size === 0 ? '' : `?${more}`)
  const connection = `postgres://${login === '' ? '' : `${login}@`}${host}/${database}${end(parameters)}`
  const shown = new URLSearchParams([...parameters].filter(([name]) => !secretParameter.test(name)))
  if (schema !== 'holdfast') shown.set('schema', schema)
  const [user = ''] = login.split(':')
  const url = `postgres://${user === '' ? '' : `${user}@`}${host}/${database}${end(shown).replaceAll('%2F', '/')}`
  return ok({
    kind: 'postgres',
    url,
    secretUrl: text,
    connection,
    listen: listen === 'off' ? null : (direct?.value.connection ?? connection),
    schema,
    termMs,
    mayLoseData: durability === 'unchecked',
  })
}

const badUrl = (why: string) =>
  fault('bad_request', `The store URL is not usable. ${why}. Use postgres://USER:PASSWORD@HOST:PORT/DATABASE.`, {
    store: 'postgres:',
  })
