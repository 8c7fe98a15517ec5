import { fault } from '@holdfast/protocol/fault'
import { escapeLine } from '@holdfast/protocol/hostile-text'
import { orThrow } from '@holdfast/protocol/result'
import type { KeyStatus, Keys, KeyVerdict, StoredCredential } from '../../../open/keys.ts'
import type { ArgsOf, RunCommand } from '../../args/command-spec.ts'
import { rejectAction } from '../../args/find-action.ts'
import { refreshServer } from '../../connect/connect.ts'
import { textTable } from '../../render/text-table.ts'
import type { CliContext, GivenServer } from '../../terminal/cli-context.ts'
import { type CommandResult, exitCodes, failWith, rejectUsage } from '../../terminal/exit.ts'
import { type AskDeps, askHidden, askLine } from '../../terminal/prompt-user.ts'
import type { programSpecs } from './specs.ts'

type Flags = ArgsOf<typeof programSpecs.auth>['flags']

const actions = ['login', 'logout', 'status']
const unchanged = 'Nothing was changed.'

/** Never takes a key as an argument, nor prints one: other users of the machine could read it there. */
export const run: RunCommand<typeof programSpecs.auth> = async (
  { positionals: [action = 'status', name], flags },
  context,
) => {
  checkUsage(action, name, flags)
  if (context.server) {
    if (action !== 'status' || flags.check)
      rejectUsage(
        'With --url, auth only lists the providers of the server. An admin changes keys on its page, in Settings.',
      )
    return statusAt(context.server, flags, context)
  }
  const { openKeys } = await import('../../../open/keys.ts') // loads every provider, which --help does not need
  const keys = await openKeys(context.environment, context.home)
  if (action === 'login') return login(keys, name, flags, context)
  for (const line of keys.notices) await context.err.tell(line)
  return action === 'logout' ? logout(keys, name ?? '', flags, context) : status(keys, flags, context)
}

function checkUsage(action: string, name: string | undefined, flags: Flags): void {
  if (!actions.includes(action)) {
    // Anything else might be a key, so it is not repeated.
    if (!/^[a-z]{1,12}$/.test(action)) rejectUsage(`auth does not have this action. Use ${actions.join(', ')}.`)
    rejectAction('auth', action, actions)
  }
  if (action === 'status' && name !== undefined) rejectUsage('auth status takes no provider. It lists all of them.')
  if (action === 'logout' && name === undefined)
    rejectUsage('auth logout needs a provider. holdfast auth status lists them.')
  const hasLoginFlag = flags['key-stdin'] || flags['no-check'] || flags['base-url'] !== undefined
  if (action !== 'login' && hasLoginFlag)
    rejectUsage('--base-url, --key-stdin and --no-check work with auth login only.')
  if (action !== 'status' && flags.check) rejectUsage('--check works with auth status only.')
}

const cancelled = exitCodes.interrupted

/** Asks for a key, checks it with its provider and saves it. A rejected key is not saved. */
async function login(keys: Keys, given: string | undefined, flags: Flags, context: CliContext): Promise<CommandResult> {
  const ask = { input: context.input(), err: context.err, signal: context.untilInterrupted() }
  const chosen = given ?? (await chooseProvider(keys, flags, ask))
  if (!chosen) return cancelled
  const baseUrl = flags['base-url']
  if (baseUrl !== undefined) checkBaseUrl(baseUrl)
  const { name, title } = orThrow(keys.find(chosen))
  const key = await readKey(keys, title, flags, ask)
  if (key === null) return cancelled
  const credential = { key, ...(baseUrl !== undefined && { baseUrl }) }
  const verdict = flags['no-check'] ? null : await checkKey(keys, chosen, credential, ask)
  if (verdict === 'cancelled') return cancelled
  if (verdict && !(await maySave(verdict, chosen, flags, ask))) return cancelled
  const warnings = orThrow(await keys.save(name, credential))
  for (const line of [...keys.notices, ...warnings]) await context.err.tell(line)
  await printLogin(keys, name, title, verdict, flags, context)
  return exitCodes.ok
}

async function chooseProvider({ providers }: Keys, flags: Flags, ask: AskDeps): Promise<string | undefined> {
  if (!ask.input.isTTY || flags['key-stdin'])
    return rejectUsage('auth login needs a provider: holdfast auth login <provider>.')
  for (const one of providers) await ask.err.tell(`  ${one.name.padEnd(12)}${one.title}`)
  return (await askLine('Which provider is the key for? ', ask))?.trim()
}

function checkBaseUrl(given: string): void {
  const url = URL.parse(given)
  if (url === null || !/^https?:$/.test(url.protocol)) rejectUsage('--base-url must start with http:// or https://.')
  if (url.username !== '' || url.password !== '' || /[?#]/.test(given))
    rejectUsage('--base-url must not contain a user, a password, a query or a fragment.')
}

/** Returns the key, or null if the user cancels. */
async function readKey(keys: Keys, title: string, flags: Flags, ask: AskDeps): Promise<string | null> {
  const isPiped = flags['key-stdin']
  if (!isPiped && !ask.input.isTTY)
    return rejectUsage('There is no terminal to ask for the key. Pipe it in and use --key-stdin.')
  const typed = isPiped ? await askLine('', ask) : await askHidden(`Key for ${title} (not shown): `, ask)
  if (typed === null)
    return ask.signal.aborted || !isPiped ? null : rejectUsage(`Standard input has no key. ${unchanged}`)
  const key = typed.trim()
  const problem = keys.whyNoKey(key)
  return problem === null ? key : rejectUsage(`${problem} ${unchanged}`)
}

async function checkKey(keys: Keys, provider: string, credential: StoredCredential, { err, signal }: AskDeps) {
  await err.tell('Checking the key with the provider…')
  try {
    return await keys.check(provider, credential, signal)
  } catch (error) {
    if (signal.aborted) return 'cancelled' as const
    throw error
  }
}

/** Fails if the key is rejected. If it could not be checked, the user decides. */
async function maySave(verdict: KeyVerdict, provider: string, flags: Flags, ask: AskDeps): Promise<boolean> {
  if (verdict.type === 'accepted') return true
  if (verdict.type === 'rejected')
    return failWith(fault('no_credentials', `${verdict.message} ${unchanged}`, { provider, reason: 'rejected' }))
  const mayAsk = ask.input.isTTY === true && !flags['key-stdin'] && !flags.json
  const hint = 'Use --no-check to save the key without a check.'
  if (!mayAsk) return failWith(fault('unreachable', `${verdict.message} ${unchanged} ${hint}`, { provider }))
  const typed = await askLine(`${verdict.message}\nSave the key anyway? [y/N] `, ask)
  return /^y(es)?$/i.test(typed?.trim() ?? '')
}

async function printLogin(
  keys: Keys,
  provider: string,
  title: string,
  verdict: KeyVerdict | null,
  flags: Flags,
  context: CliContext,
): Promise<void> {
  const { err, out } = context
  const accepted = verdict?.type === 'accepted' ? verdict : null
  const server = await refreshServer(context)
  const from = keys.status().find((one) => one.provider === provider)?.from ?? null
  if (flags.json) {
    const account = accepted?.account ?? null
    return out.writeJson({ provider, path: keys.path, checked: accepted !== null, account })
  }
  const account = accepted?.account ? ` It belongs to ${accepted.account}.` : ''
  await err.tell(accepted ? `${title} accepts the key.${account}` : 'The key was not checked.')
  if (accepted?.note) await err.tell(accepted.note)
  await err.tell(`Saved to ${keys.path}, which only you can read.`)
  if (from?.type === 'variable') await err.tell(`${from.name} is set and is used instead.`)
  if (server !== null) await err.tell(server)
}

async function logout(keys: Keys, name: string, flags: Flags, context: CliContext): Promise<undefined> {
  const { name: provider, title } = orThrow(keys.find(name))
  const from = keys.status().find((one) => one.provider === provider)?.from
  const variable = from?.type === 'variable' ? from.name : null
  if (!orThrow(await keys.remove(provider))) {
    const hint = variable ? ` The key comes from ${variable}; unset it.` : ''
    return failWith(fault('not_found', `There is no key for ${title} in ${keys.path}.${hint}`, { provider }))
  }
  const server = await refreshServer(context)
  const { out, err } = context
  if (flags.json) await out.writeJson({ provider, removed: true })
  else {
    await err.tell(`Removed the key for ${title} from ${keys.path}. It stays valid until you revoke it.`)
    if (variable) await err.tell(`${variable} is set and is still used.`)
    if (server !== null) await err.tell(server)
  }
}

/** Lists the providers of a server, and whether each has a key. A server never sends a key, nor a part of it. */
async function statusAt(server: GivenServer, { json }: Flags, { out }: CliContext): Promise<CommandResult> {
  const { connectGiven } = await import('../../connect/connect-given.ts')
  const { providers } = await connectGiven(server).models()
  if (json) await out.writeJson({ providers })
  else {
    const rows = providers.map(({ provider, keyFrom, needsKey, endpoint, unusable }) => [
      provider,
      keyFrom === null ? (needsKey ? 'none' : 'not needed') : 'set',
      keyFrom === null ? '-' : keyFrom.type === 'file' ? 'file' : escapeLine(keyFrom.name),
      escapeLine(endpoint ?? '-'),
      escapeLine(unusable ?? 'usable'),
    ])
    await out.write(textTable(['PROVIDER', 'KEY', 'FROM', 'ADDRESS', 'STATE'], rows, out))
  }
  return exitCodes.ok
}

type CheckedStatus = KeyStatus & { readonly check?: KeyVerdict }

async function status(keys: Keys, flags: Flags, context: CliContext): Promise<CommandResult> {
  const providers: readonly CheckedStatus[] | null = flags.check ? await checkAll(keys, context) : keys.status()
  if (providers === null) return cancelled
  if (flags.json) await context.out.writeJson({ path: keys.path, providers })
  else await context.out.write(statusTable(providers, context))
  return providers.some(({ check }) => check?.type === 'rejected') ? exitCodes.failed : exitCodes.ok
}

/** Checks all existing keys at once; returns null if interrupted. */
async function checkAll(keys: Keys, context: CliContext): Promise<readonly CheckedStatus[] | null> {
  const signal = context.untilInterrupted()
  const check = async (one: KeyStatus): Promise<CheckedStatus> =>
    one.from === null ? one : { ...one, check: await keys.check(one.provider, null, signal) }
  try {
    return await Promise.all(keys.status().map(check))
  } catch (error) {
    if (signal.aborted) return null
    throw error
  }
}

function statusTable(all: readonly CheckedStatus[], { out }: CliContext): string {
  const isChecked = all.some(({ check }) => check !== undefined)
  const heading = ['PROVIDER', 'KEY', 'FROM', 'ADDRESS', ...(isChecked ? ['CHECK'] : [])]
  const rows = all.map((one) => [
    one.provider,
    one.from === null ? (one.needsKey ? 'none' : 'not needed') : `…${one.ends ?? ''}`,
    sourceCell(one),
    one.endpoint ?? '-',
    ...(isChecked ? [checkCell(one.check)] : []),
  ])
  return textTable(heading, rows, out)
}

function sourceCell({ from, isShadowed }: KeyStatus): string {
  if (from === null) return '-'
  if (from.type === 'file') return 'file'
  return isShadowed ? `${from.name} (overrides the file)` : from.name
}

function checkCell(check: KeyVerdict | undefined): string {
  if (check === undefined) return '-'
  if (check.type !== 'accepted') return check.message
  return check.account === null ? 'accepted' : `accepted, account ${check.account}`
}
