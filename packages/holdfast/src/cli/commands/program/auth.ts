import { fault } from '@holdfast/protocol/fault'
import { didYouMean } from '@holdfast/protocol/nearest'
import type { KeyStatus, Keys, KeyVerdict } from '../../../keys.ts'
import type { ArgsOf } from '../../args/command-specs.ts'
import type { CliContext } from '../../context/cli-context.ts'
import { login } from '../../run/auth-login.ts'
import { refreshServer } from '../../sessions/refresh-server.ts'
import { type Ended, ended, exitCodes, misused, refused } from '../../terminal/exit.ts'
import { toJsonText } from '../../terminal/json-text.ts'
import { textTable } from '../../terminal/text-table.ts'

type Args = ArgsOf<'auth'>

const ways = ['login', 'logout', 'status']

/** The keys of providers. No key is ever taken from, or shown in, an argument: others on the machine could read it there. */
export async function auth({ words, flags }: Args, place: CliContext): Promise<Ended> {
  const [way = 'status', name] = words
  const wrong = misuse(way, name, flags)
  if (wrong !== null) return misused(wrong)
  const { openKeys } = await import('../../../keys.ts') // brings every provider, which --help does not need
  const opened = await openKeys(place.environment, place.home)
  if (!opened.ok) return refused(opened.fault)
  if (way === 'login') return login(opened.value, name, flags, place)
  for (const line of opened.value.notices) await place.err.write(`${line}\n`)
  return way === 'logout' ? logout(opened.value, name ?? '', flags, place) : status(opened.value, flags, place)
}

function misuse(way: string, name: string | undefined, flags: Args['flags']): string | null {
  if (!ways.includes(way))
    return /^[a-z]{1,12}$/.test(way)
      ? `auth does not know '${way}'.${didYouMean(way, ways) || ` It knows ${ways.join(', ')}.`}`
      : `auth does not know this word. It knows ${ways.join(', ')}.`
  if (way === 'status' && name !== undefined) return 'auth status takes no provider; it shows all of them.'
  if (way === 'logout' && name === undefined) return 'auth logout needs a provider; holdfast auth status lists them.'
  const isAsked = flags['key-stdin'] || flags['no-check'] || flags['base-url'] !== undefined
  if (way !== 'login' && isAsked) return '--base-url, --key-stdin and --no-check go with auth login.'
  return way !== 'status' && flags.check ? '--check goes with auth status.' : null
}

async function logout(keys: Keys, name: string, flags: Args['flags'], place: CliContext): Promise<Ended> {
  const provider = keys.find(name)
  if (!provider.ok) return refused(provider.fault)
  const { name: known, title } = provider.value
  const from = keys.status().find((one) => one.provider === known)?.from
  const variable = from?.type === 'variable' ? from.name : null
  const removed = await keys.remove(known)
  if (!removed.ok) return refused(removed.fault)
  if (!removed.value) {
    const hint = variable ? ` The key comes from ${variable}; unset it.` : ''
    return refused(fault('not_found', `There is no key for ${title} in ${keys.path}.${hint}`, { provider: known }))
  }
  const server = await refreshServer(place)
  if (flags.json) await place.out.write(`${toJsonText({ provider: known, removed: true })}\n`)
  else {
    await place.err.write(
      `The key for ${title} is removed from ${keys.path}. Whoever has it can use it until you revoke it.\n`,
    )
    if (variable) await place.err.write(`${variable} is set and goes on being used.\n`)
    if (server !== null) await place.err.write(`${server}\n`)
  }
  return ended()
}

type Checked = KeyStatus & { readonly check?: KeyVerdict }

async function status(keys: Keys, flags: Args['flags'], place: CliContext): Promise<Ended> {
  const all = keys.status()
  const checked: readonly Checked[] | null = flags.check ? await checkAll(keys, all, place) : all
  if (checked === null) return ended(exitCodes.interrupted)
  if (flags.json) await place.out.write(`${toJsonText({ path: keys.path, providers: checked })}\n`)
  else await place.out.write(statusTable(checked, place))
  return ended(checked.some(({ check }) => check?.type === 'rejected') ? exitCodes.failed : exitCodes.ok)
}

/** All at once; only those that have a key. */
async function checkAll(keys: Keys, all: readonly KeyStatus[], place: CliContext): Promise<readonly Checked[] | null> {
  const signal = place.untilInterrupted()
  const check = async (one: KeyStatus): Promise<Checked> =>
    one.from === null ? one : { ...one, check: await keys.check(one.provider, null, { signal }) }
  try {
    return await Promise.all(all.map(check))
  } catch (error) {
    if (signal.aborted) return null
    throw error
  }
}

function statusTable(all: readonly Checked[], { out }: CliContext): string {
  const isChecked = all.some(({ check }) => check !== undefined)
  const head = ['PROVIDER', 'KEY', 'FROM', 'CALLED AT', ...(isChecked ? ['CHECK'] : [])]
  const rows = all.map((one) => [
    one.provider,
    keyWords(one),
    sourceWords(one),
    one.endpoint ?? '-',
    ...(isChecked ? [checkWords(one.check)] : []),
  ])
  return textTable(head, rows, out.paint)
}

function sourceWords({ from, isShadowed }: KeyStatus): string {
  if (from === null) return '-'
  if (from.type === 'file') return 'file'
  return isShadowed ? `${from.name}, before the file` : from.name
}

function keyWords({ from, ends, needsKey }: KeyStatus): string {
  if (from === null) return needsKey ? 'none' : 'none needed'
  return `…${ends ?? ''}`
}

function checkWords(check: KeyVerdict | undefined): string {
  if (check === undefined) return '-'
  if (check.type !== 'accepted') return check.message
  return check.account === null ? 'known' : `known, of ${check.account}`
}
