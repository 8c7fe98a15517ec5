import type { SearchPage, SearchRequest } from '@holdfast/core/ports'
import type { FoundMessages, SearchOptions, SessionId } from '@holdfast/protocol'
import { ageForm, parseAge } from '@holdfast/protocol/age'
import type { Fault } from '@holdfast/protocol/fault'
import { escapeLine } from '@holdfast/protocol/hostile-text'
import { ok, orThrow, type Result } from '@holdfast/protocol/result'
import type { ReadOnlyStore } from '../../../store/read-only-store.ts'
import { searchCursorForm } from '../../../store/search/ranked-page.ts'
import type { RunCommand } from '../../args/command-spec.ts'
import { openStoreToRead } from '../../connect/resolve-store.ts'
import { resolveWorkspace } from '../../connect/workspace.ts'
import { formatAge } from '../../render/tables.ts'
import type { CliContext, GivenServer } from '../../terminal/cli-context.ts'
import { failWith, rejectUsage } from '../../terminal/exit.ts'
import { withPager } from '../../terminal/pager.ts'
import type { sessionSpecs } from './specs.ts'

const textCharsMax = 1000

/** Reads only the store, on this thread, to be quick. */
export const run: RunCommand<typeof sessionSpecs.search> = async ({ positionals, flags }, context) => {
  const text = positionals.join(' ')
  const { role, tool, limit = 20, cursor, session, json } = flags
  if (text.length > textCharsMax) return rejectUsage(`A search takes at most ${textCharsMax} characters.`)
  const [since, until] = [parseTime(flags.since, context.now()), parseTime(flags.until, context.now())]
  if (since === null) return rejectUsage(timeError('since', flags.since))
  if (until === null) return rejectUsage(timeError('until', flags.until))
  const cursorError = `--cursor must be "next" of an earlier search, not '${cursor}'.`
  if (cursor !== undefined && !searchCursorForm.test(cursor)) return rejectUsage(cursorError)
  const isEverywhere = flags.all || session !== undefined
  const workspace = isEverywhere ? undefined : orThrow(resolveWorkspace(context, flags.workspace))
  const request = { text, workspace, role, tool, since, until, limit, cursor }
  const where = workspace === undefined ? '.' : ` in ${workspace}. Use --all to search every workspace.`
  const print = async (found: Result<FoundMessages>, handleOf: PrintDeps['handleOf']): Promise<undefined> => {
    if (!found.ok) return isBadCursor(found.fault) ? rejectUsage(cursorError) : failWith(found.fault)
    await withPager(context, (out) => printHits(found.value, json, `No hits${where}`, { ...context, out, handleOf }))
  }
  if (context.server) return searchServer(context, context.server, request, session, print)
  const source = (await openStoreToRead(context))?.source
  try {
    const found = source ? await search(source, request, session, context) : ok({ hits: [], next: null })
    await print(
      found.ok ? ok(toFound(found.value)) : found,
      async (id) => (await source?.entry(id))?.entry.meta.handle ?? id,
    )
  } finally {
    await source?.close()
  }
}

async function searchServer(
  context: CliContext,
  server: GivenServer,
  request: SearchOptions,
  name: string | undefined,
  print: (found: Result<FoundMessages>, handleOf: PrintDeps['handleOf']) => Promise<undefined>,
): Promise<undefined> {
  const { connectGiven } = await import('../../connect/connect-given.ts')
  const { openRemote } = await import('../../sessions/remote.ts')
  const { handles } = connectGiven(server)
  const session = name === undefined ? undefined : (await openRemote(context, server, name)).id
  const { handleOf } = await import('../../sessions/handle-of.ts')
  return print(await handles.search({ ...request, session }), (id) => handleOf(handles, id))
}

const toFound = ({ hits, next, isIndexing }: SearchPage): FoundMessages => ({
  hits: hits.map(({ session: sessionId, message: messageId, role: kind, title, at, snippet }) => ({
    sessionId,
    title,
    messageId,
    kind,
    at,
    snippet,
  })),
  next,
  ...(isIndexing && { isIndexing }),
})

/** Only the store knows which cursors are valid. */
const isBadCursor = ({ code, details }: Fault): boolean => code === 'bad_request' && details?.['cursor'] !== undefined

const timeError = (flag: string, given: string | undefined): string =>
  `--${flag} must be a date such as 2026-01-31, or ${ageForm}; not '${given}'.`

/** Returns the time of a date or an age, or null if it is neither. */
function parseTime(text: string | undefined, nowMs: number): string | undefined | null {
  if (text === undefined) return undefined
  const age = parseAge(text)
  const ms = age === null ? (/^\d{4}-\d\d-\d\d(T[\d:.]+Z)?$/.test(text) ? Date.parse(text) : Number.NaN) : nowMs - age
  if (Number.isNaN(ms)) return null
  const time = new Date(ms).toISOString()
  // Date.parse reads 30 February as 2 March.
  return age === null && time.slice(0, 10) !== text.slice(0, 10) ? null : time
}

async function search(source: ReadOnlyStore, request: SearchRequest, name: string | undefined, context: CliContext) {
  if (name === undefined) return source.search(request)
  const { findStoredId } = await import('../../sessions/stored-session.ts') // loads core, which other searches do not need
  return source.search({ ...request, session: await findStoredId(source, context, name) })
}

type PrintDeps = Pick<CliContext, 'out' | 'err' | 'now'> & { readonly handleOf: (id: SessionId) => Promise<string> }

async function printHits(page: FoundMessages, isJson: boolean, none: string, deps: PrintDeps): Promise<void> {
  const { hits, next, isIndexing } = page
  const { out, err, now, handleOf } = deps
  if (isJson) return out.writeJson(page)
  for (const { sessionId: session, title, messageId: message, kind: role, at, snippet } of hits) {
    const age = formatAge(now() - Date.parse(at))
    await out.tell(`${out.paint.bold(await handleOf(session))}  ${escapeLine(title)}  #${message}  ${role}  ${age}`)
    await out.tell(`  ${escapeLine(snippet)}`)
  }
  if (hits.length === 0) await err.tell(none)
  if (next !== null) await err.tell('There are more. Use --limit to see them.')
  if (isIndexing) await err.tell('Some messages are not indexed yet and were not searched. Try again later.')
}
