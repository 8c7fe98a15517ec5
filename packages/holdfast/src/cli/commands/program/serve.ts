import { existsSync } from 'node:fs'
import type { Removal } from '@holdfast/protocol'
import { ageForm, dayMs, parseAge } from '@holdfast/protocol/age'
import { fault } from '@holdfast/protocol/fault'
import { isLoopback } from '../../../server/auth/server-address.ts'
import { parseStoreUrl } from '../../../store/open/store-location.ts'
import { registerKey } from '../../../system/secrets/known-keys.ts'
import type { ArgsOf } from '../../args/command-specs.ts'
import { wholeNumber } from '../../args/whole-number.ts'
import type { CliContext } from '../../context/cli-context.ts'
import { counted } from '../../render/removal-text.ts'
import { findServer, runtimeObservers, tellProblem } from '../../sessions/connect.ts'
import { keepCookieKey, removeServerFile, writeServerFile } from '../../sessions/server-file.ts'
import { type Ended, ended, misused, refused } from '../../terminal/exit.ts'

const portDefault = 4820
const tokenCharsMin = 22 // of base64url: 128 bits and a little
const closeMsMax = 2000

/** The server, until someone ends it. */
export async function serve({ flags }: ArgsOf<'serve'>, place: CliContext): Promise<Ended> {
  const port = flags.port === undefined ? portDefault : wholeNumber(flags.port, 0, 65_535)
  if (port === null) return misused(`--port is a whole number from 0 to 65535, not '${flags.port}'.`)
  const host = flags.host ?? '127.0.0.1'
  const keptMs = flags.retention === undefined ? null : parseAge(flags.retention)
  if (flags.retention !== undefined && !keptMs) return misused(`--retention is ${ageForm}, not '${flags.retention}'.`)
  const known = place.environment['HOLDFAST_TOKEN'] || undefined // set to nothing is not set
  if (known !== undefined && known.length < tokenCharsMin)
    return misused(`HOLDFAST_TOKEN must have at least ${tokenCharsMin} characters.`)
  if (known === undefined && !isLoopback(host)) return refused(openToAll(host))
  const other = await findServer(place)
  if (other) return refused(alreadyRuns(other))

  const interruption = place.untilInterrupted()
  const { open } = await import('../../../open.ts')
  const { createArchive } = await import('../../../archive.ts')
  const { mirror, 'title-model': titleModel } = flags
  const store = parseStoreUrl(place.store, place.home)
  if (!store.ok) return refused(store.fault)
  const served = store.value.url
  const { environment } = place
  const retention = keptMs === null ? undefined : { days: keptMs / dayMs, onPruned: tellPruned(place) }
  const holdfast = await open({
    store: served,
    mirror,
    environment,
    retention,
    titleModel,
    ...runtimeObservers(place),
  })
  if (!holdfast.ok) return refused(holdfast.fault)
  const { createSecret, hashToken, openServer } = await import('../../../server/index.ts')
  const token = known ?? createSecret()
  registerKey(token)
  const server = await openServer({
    sessions: holdfast.value.sessions,
    archive: createArchive(holdfast.value),
    host,
    port,
    tokens: [{ hash: hashToken(token), role: 'admin' }],
    pageDir: flags['no-page'] ? null : place.pageDir,
    version: place.version,
    now: place.now,
    cookieKey: await keepCookieKey(place.home, place.pid),
    onProblem: tellProblem(place),
    logger: place.logger,
  })
  if (!server.ok) {
    await holdfast.value.close()
    return refused(server.fault)
  }

  const { url } = server.value
  const file = await writeServerFile(place.home, { url, pid: place.pid, store: served }, token)
  try {
    await tellAddress(place, url, flags['no-page'] ? null : server.value.loginLink())
    await aborted(interruption)
    await place.err.write('Stopping; Ctrl-C again ends it at once.\n')
  } finally {
    removeServerFile(place.home, file)
    await closeInTime(server.value, holdfast.value, place)
  }
  return ended()
}

const tellPruned =
  ({ err }: CliContext) =>
  ({ count }: Removal): void =>
    void err.write(`Retention moved ${counted(count)} to the trash.\n`)

type Closing = { close(): Promise<void> }

/** Streams end first, so that their clients hear of it. What would not stop is left: nothing acknowledged depends on it. */
async function closeInTime(server: Closing, holdfast: Closing, { err }: CliContext): Promise<void> {
  const closed = server.close().then(() => holdfast.close())
  const late = aborted(AbortSignal.timeout(closeMsMax)).then(() => 'late' as const)
  if ((await Promise.race([closed, late])) === 'late')
    await err.write('Something would not stop in time and was left; nothing acknowledged is lost.\n')
}

async function tellAddress(
  { out, err, version, pageDir }: CliContext,
  url: string,
  link: string | null,
): Promise<void> {
  await err.write(`Holdfast ${version} runs at ${url}. Ctrl-C stops it.\n`)
  if (link === null) return out.write(`${url}\n`)
  if (!existsSync(pageDir))
    await err.write('The page is not built; npm run build --workspace @holdfast/web builds it.\n')
  await err.write('Open the page with this link. It works once, within ten minutes:\n')
  await out.write(`${link}\n`)
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })

const openToAll = (host: string) =>
  fault(
    'unauthorized',
    `Others can reach ${host}, and no token is configured. Set HOLDFAST_TOKEN to a secret of at least ${tokenCharsMin} characters, or listen on 127.0.0.1.`,
    { host },
  )

const alreadyRuns = ({ url, pid }: { readonly url: string; readonly pid: number }) =>
  fault(
    'unreachable',
    `A server of this home already runs at ${url} (process ${pid}). Use that one, or stop it first.`,
    {
      url,
      pid,
    },
  )
