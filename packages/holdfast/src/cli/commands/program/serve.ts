import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { Removal } from '@holdfast/protocol'
import { ageForm, dayMs } from '@holdfast/protocol/age'
import { errorMessage, type Fault, fault } from '@holdfast/protocol/fault'
import { orThrow } from '@holdfast/protocol/result'
import { isLoopback } from '../../../server/auth/server-address.ts'
import { openReadOnlyStore } from '../../../store/open/open-read-only.ts'
import { describeSavedCopies, findSavedCopies } from '../../../store/open/saved-copies.ts'
import { parseStoreUrl, urlToOpen } from '../../../store/open/store-location.ts'
import type { FileLock } from '../../../system/files/file-lock.ts'
import { letYoungSpaceGrow, limitHeapGrowth } from '../../../system/heap-growth.ts'
import { registerKey } from '../../../system/secrets/known-keys.ts'
import { hasExpired, isLogin } from '../../../tokens/tokens.ts'
import type { RunCommand } from '../../args/command-spec.ts'
import { findServer, reportProblem, runtimeObservers } from '../../connect/connect.ts'
import {
  loadCookieKey,
  lockHome,
  removeServerFile,
  type ServerFile,
  writeServerFile,
} from '../../connect/server-file.ts'
import { counted } from '../../render/tables.ts'
import type { CliContext } from '../../terminal/cli-context.ts'
import { askYesOrNo } from '../../terminal/confirm.ts'
import { type CommandResult, failWith, rejectUsage } from '../../terminal/exit.ts'
import type { programSpecs } from './specs.ts'

const tokenCharsMin = 22 // of base64url: more than 128 bits
const closeMsMax = 2000
const drainSecondsDefault = 25
/** On a busy machine a start takes seconds, and several at once take longer. */
const otherStartMsMax = 30_000
const otherStartPollMs = 100

/** Runs the server until a signal stops it. */
export const run: RunCommand<typeof programSpecs.serve> = async ({ flags }, context) => {
  const { port = 4820, host = '127.0.0.1', mirror, retention: retentionMs, sandbox, 'title-model': titleModel } = flags
  if (retentionMs === 0) return rejectUsage(`--retention must be ${ageForm}, and more than 0.`)
  const { environment, home, pid, version, now, logger, err } = context
  const configuredToken = environment['HOLDFAST_TOKEN'] || undefined // empty counts as unset
  if (configuredToken !== undefined && configuredToken.length < tokenCharsMin)
    return rejectUsage(`HOLDFAST_TOKEN must have at least ${tokenCharsMin} characters.`)
  const publicOrigins = flags['public-url'].map(readOrigin)
  if (flags.qr && isLoopback(host) && publicOrigins.length === 0)
    return rejectUsage('--qr needs an address that a phone can reach: add --host 0.0.0.0, or --public-url.')
  if (flags.qr && flags['no-page']) return rejectUsage('--qr shows the page on a phone. Leave out --no-page.')
  if (configuredToken === undefined && !isLoopback(host) && !(await hasToken(context)))
    return failWith(unprotectedHost(host))
  const lock = await lockOrFindServer(context)
  if (!('release' in lock)) return offerToOpen(lock, context)

  const interruption = context.untilInterrupted()
  const { open } = await import('../../../open.ts')
  const { createTransfer } = await import('../../../server-transfer.ts')
  const location = orThrow(parseStoreUrl(context.store, home))
  const store = location.url
  const onPruned = ({ count }: Removal) => void err.tell(`Retention moved ${counted(count, 'session')} to the trash.`)
  const retention = retentionMs === undefined ? undefined : { days: retentionMs / dayMs, onPruned }
  const options = {
    store: urlToOpen(location),
    mirror,
    blobs: flags.blobs,
    environment,
    retention,
    titleModel,
    sandbox,
    node: { url: flags['node-url'], serves: flags.serves },
    ...runtimeObservers(context),
  }
  const holdfast = orThrow(await open(options)) // it names the copy of a store that has no file
  const isOnDisk = location.kind === 'sqlite' || location.kind === 'jsonl'
  const copies = isOnDisk ? await findSavedCopies(location) : []
  if (isOnDisk && copies.length > 0) await err.tell(describeSavedCopies(location, copies))
  const { createSecret, hashToken, openServer, openSpoolDir } = await import('../../../server/index.ts')
  const token = configuredToken ?? createSecret()
  registerKey(token)
  const server = await openServer({
    host,
    port,
    version,
    now,
    logger,
    sessions: holdfast.handles,
    transfer: createTransfer(holdfast),
    spoolDir: await openSpoolDir(join(home.stateDir, 'imports')),
    savedCopies: copies.length,
    ready: holdfast.ready,
    ...holdfast.serverParts,
    tokens: [{ hash: hashToken(token), role: 'admin' }],
    storedTokens: holdfast.liveTokens,
    tenants: holdfast.tenants,
    rateLimit: holdfast.rateLimit,
    publicOrigins,
    trustedProxies: flags['trusted-proxy'],
    pageDir: flags['no-page'] ? null : context.pageDir,
    cookieKey: await loadCookieKey(home, pid),
    onProblem: reportProblem(context),
  })
  if (!server.ok) {
    await holdfast.close()
    return failWith(server.fault)
  }

  letYoungSpaceGrow()
  limitHeapGrowth()
  const { url } = server.value
  const file = await writeServerFile(home, { url, pid, store }, token)
  try {
    const link = flags['no-page'] ? null : server.value.loginLink()
    await printAddress(context, { url, link, nodeUrl: holdfast.nodeUrl, isJson: flags.json })
    const phoneLink = flags.qr ? server.value.networkLoginLink() : null
    if (phoneLink !== null) await printCode(context, phoneLink)
    await untilAborted(interruption)
    await err.tell('Stopping. Press Ctrl-C again to quit at once.')
    await drain(holdfast, flags.drain ?? drainSecondsDefault, context)
  } finally {
    removeServerFile(home, file)
    await closeInTime(server.value, holdfast, context)
    lock.release()
  }
}

/** Says where the server of this home runs. At a terminal, asks whether to open its page. */
async function offerToOpen(other: ServerFile, context: CliContext): Promise<CommandResult> {
  const { url, pid } = other
  if (!context.input().isTTY || !context.err.isTerminal) return failWith(alreadyRunning(other))
  await context.err.tell(`A server for this home directory already runs at ${url} (process ${pid}).`)
  if (!(await askYesOrNo('Open its page in the browser?', context))) return failWith(alreadyRunning(other))
  const { run: openPage } = await import('./open.ts')
  return openPage({ positionals: [], flags: { url: undefined, 'token-file': undefined } }, context)
}

/**
 * Locks the home for this server, or returns the one that runs. Waits until a server that was started at the same moment has
 * an address, or gives up. Of several that try to lock at once all may be refused, so each tries again.
 */
async function lockOrFindServer(context: CliContext): Promise<FileLock | ServerFile> {
  const deadline = performance.now() + otherStartMsMax
  for (let isFirst = true; isFirst || performance.now() < deadline; isFirst = false) {
    const found = (await findServer(context)) ?? lockHome(context.home)
    if (found) return found
    if (isFirst)
      await context.err.tell('Another server of this home directory is starting or stopping. Waiting for it.')
    await wait(otherStartPollMs)
  }
  return failWith(
    fault(
      'unreachable',
      'Another server of this home directory is starting or stopping, and has no address. Wait for it, or stop it first.',
    ),
  )
}

/** Lets turns end and hands the sessions over to other nodes, if there may be any. The server answers meanwhile, and says that it is not ready. */
async function drain(
  holdfast: { drain(signal: AbortSignal): Promise<void> },
  seconds: number,
  { err }: CliContext,
): Promise<void> {
  const signal = AbortSignal.timeout(seconds * 1000)
  // Without its database it has nothing to hand over: the next owner takes over when the term has ended.
  await holdfast.drain(signal).catch((cause) => err.write(`Could not hand over: ${errorMessage(cause)}\n`))
  if (signal.aborted) await err.tell('Some turns did not end in time and are interrupted.')
}

type Closable = { close(): Promise<void> }

/** Closes the server, then the runtime, so that clients learn of it. After `closeMsMax` it goes on without them. */
async function closeInTime(server: Closable, holdfast: Closable, { err }: CliContext): Promise<void> {
  const closed = server.close().then(() => holdfast.close())
  const late = untilAborted(AbortSignal.timeout(closeMsMax)).then(() => 'late' as const)
  if ((await Promise.race([closed, late])) === 'late')
    await err.tell('Some work did not stop in time and was killed. Acknowledged data is safe.')
}

type Printed = {
  readonly url: string
  readonly link: string | null
  readonly nodeUrl: string | null
  readonly isJson: boolean
}

async function printAddress(context: CliContext, { url, link, nodeUrl, isJson }: Printed): Promise<void> {
  const { out, err, version, pageDir, pid } = context
  await err.tell(`Holdfast ${version} runs at ${url}\nPress Ctrl-C to stop it.`)
  if (nodeUrl !== null) await err.tell(`Other nodes of its store reach it at ${nodeUrl}${onlyHere(nodeUrl)}.`)
  if (isJson) return out.writeJson({ url, pid, ...(link !== null && { login: link }) })
  if (link === null) return out.write(`${url}\n`)
  if (!existsSync(pageDir))
    await err.write('The page is not built. Build it with: npm run build --workspace @holdfast/web\n')
  await err.tell('Open the page with this link. It works once, within ten minutes:')
  await out.write(`${link}\n`)
}

const onlyHere = (nodeUrl: string): string =>
  isLoopback(new URL(nodeUrl).hostname) ? ', which only this machine can. For others, use --node-url' : ''

async function printCode({ err }: CliContext, link: string): Promise<void> {
  const { qrCode } = await import('../../render/qr-code.ts')
  await err.write(`Or read this code with a phone on the same network. It works once:\n${qrCode(link, err)}${link}\n`)
}

/** Returns the origin of a public address. Refuses one with a path: the page must be at its root. */
function readOrigin(given: string): string {
  const url = URL.canParse(given) ? new URL(given) : null
  if (url && /^https?:$/.test(url.protocol) && url.pathname === '/' && !url.search && !url.username) return url.origin
  return rejectUsage('--public-url must be an address without a path, such as https://holdfast.example.com.')
}

/** Returns whether the store has a token that still counts. Creates nothing. */
async function hasToken({ store, home, now }: CliContext): Promise<boolean> {
  const location = orThrow(parseStoreUrl(store, home))
  if (location.kind === 'memory') return false
  const source = orThrow(await openReadOnlyStore(location))
  if (source === null) return false
  const tokens = await source.tokens().finally(source.close)
  return tokens.some((token) => !isLogin(token) && !hasExpired(token, now()))
}

const untilAborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })

function unprotectedHost(host: string): Fault {
  const hint = `Create one with \`holdfast token create\`, set HOLDFAST_TOKEN to a secret of at least ${tokenCharsMin} characters, or listen on 127.0.0.1.`
  return fault('unauthorized', `Others can reach ${host}, but there is no token. ${hint}`, { host })
}

function alreadyRunning({ url, pid }: ServerFile): Fault {
  const message = `A server for this home directory already runs at ${url} (process ${pid}). Use it, or stop it first.`
  return fault('unreachable', message, { url, pid })
}
