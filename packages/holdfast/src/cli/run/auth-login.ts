import { fault } from '@holdfast/protocol/fault'
import type { KeptCredential, Keys, KeyVerdict } from '../../keys.ts'
import type { ArgsOf } from '../args/command-specs.ts'
import type { CliContext } from '../context/cli-context.ts'
import { refreshServer } from '../sessions/refresh-server.ts'
import { type Ended, ended, exitCodes, misused, refused } from '../terminal/exit.ts'
import { toJsonText } from '../terminal/json-text.ts'
import { type AskDeps, askHidden, askLine } from '../terminal/prompt-user.ts'

type Flags = ArgsOf<'auth'>['flags']
type Said<Value> = { readonly type: 'said'; readonly value: Value } | Ended

const said = <Value>(value: Value): Said<Value> => ({ type: 'said', value })
const left = ended(exitCodes.interrupted)
const unchanged = 'Nothing was changed.'

/** Asks for a key, has its provider say that it knows it, and keeps it. Nothing is kept of a key that is rejected. */
export async function login(keys: Keys, name: string | undefined, flags: Flags, place: CliContext): Promise<Ended> {
  const ask = { input: place.input(), err: place.err, signal: place.untilInterrupted() }
  const provider = await chooseProvider(keys, name, flags, ask)
  if (provider.type !== 'said') return provider
  const address = readAddress(flags['base-url'])
  if (address.type !== 'said') return address
  const found = keys.find(provider.value)
  if (!found.ok) return refused(found.fault)
  const { title } = found.value
  const key = await readKey(keys, title, flags, ask)
  if (key.type !== 'said') return key
  const credential = { key: key.value, ...(address.value !== null && { baseUrl: address.value }) }
  const verdict = flags['no-check'] ? null : await checkIt(keys, provider.value, credential, ask)
  if (verdict === 'left') return left
  const refusal = verdict && (await refusalOf(verdict, provider.value, flags, ask))
  if (refusal) return refusal
  const kept = await keys.keep(found.value.name, credential)
  if (!kept.ok) return refused(kept.fault)
  for (const line of [...keys.notices, ...kept.value]) await place.err.write(`${line}\n`)
  await tell(keys, found.value.name, title, verdict, flags, place)
  return ended()
}

async function chooseProvider(
  { providers }: Keys,
  name: string | undefined,
  flags: Flags,
  ask: AskDeps,
): Promise<Said<string>> {
  if (name !== undefined) return said(name)
  if (!ask.input.isTTY || flags['key-stdin'])
    return misused('auth login needs a provider: holdfast auth login <provider>.')
  for (const one of providers) await ask.err.write(`  ${one.name.padEnd(12)}${one.title}\n`)
  const typed = (await askLine('For which provider is the key? ', ask))?.trim()
  return typed ? said(typed) : left
}

function readAddress(given: string | undefined): Said<string | null> {
  if (given === undefined) return said(null)
  const url = URL.canParse(given) ? new URL(given) : null
  if (url === null || !/^https?:$/.test(url.protocol))
    return misused('--base-url is an address: http://… or https://….')
  if (url.username !== '' || url.password !== '' || /[?#]/.test(given))
    return misused('--base-url is an address alone: without a user, a password, a query or a fragment.')
  return said(given)
}

async function readKey(keys: Keys, title: string, flags: Flags, ask: AskDeps): Promise<Said<string>> {
  if (!flags['key-stdin'] && !ask.input.isTTY)
    return misused('There is no terminal to ask on. Give the key on standard input, with --key-stdin.')
  const typed = flags['key-stdin']
    ? await askLine('', ask)
    : await askHidden(`The key for ${title} (it is not shown): `, ask)
  if (typed === null) return ask.signal.aborted || !flags['key-stdin'] ? left : misused(`No key came. ${unchanged}`)
  const key = typed.trim()
  const wrong = keys.whyNoKey(key)
  return wrong === null ? said(key) : misused(`${wrong} ${unchanged}`)
}

async function checkIt(keys: Keys, provider: string, credential: KeptCredential, { err, signal }: AskDeps) {
  await err.write('Asking the provider…\n')
  try {
    return await keys.check(provider, credential, { signal })
  } catch (error) {
    if (signal.aborted) return 'left' as const
    throw error
  }
}

/** Why the key is not kept; null when it is. What could not be found out is the person's to decide. */
async function refusalOf(verdict: KeyVerdict, provider: string, flags: Flags, ask: AskDeps): Promise<Ended | null> {
  if (verdict.type === 'accepted') return null
  if (verdict.type === 'rejected')
    return refused(fault('no_credentials', `${verdict.message} ${unchanged}`, { provider, reason: 'rejected' }))
  const mayAsk = ask.input.isTTY === true && !flags['key-stdin'] && !flags.json
  if (!mayAsk)
    return refused(
      fault('unreachable', `${verdict.message} ${unchanged} --no-check keeps the key unasked.`, { provider }),
    )
  const answer = await askLine(`${verdict.message}\nKeep the key all the same? [y/N] `, ask)
  return /^y(es)?$/i.test(answer?.trim() ?? '') ? null : left
}

async function tell(
  keys: Keys,
  provider: string,
  title: string,
  verdict: KeyVerdict | null,
  flags: Flags,
  place: CliContext,
): Promise<void> {
  const { err, out } = place
  const accepted = verdict?.type === 'accepted' ? verdict : null
  const server = await refreshServer(place)
  const from = keys.status().find((one) => one.provider === provider)?.from ?? null
  if (flags.json) {
    const account = accepted?.account ?? null
    return out.write(`${toJsonText({ provider, path: keys.path, checked: accepted !== null, account })}\n`)
  }
  const whose = accepted?.account ? ` It belongs to ${accepted.account}.` : ''
  await err.write(accepted ? `${title} knows the key.${whose}\n` : `The key was not checked.\n`)
  if (accepted?.note) await err.write(`${accepted.note}\n`)
  await err.write(`It is kept in ${keys.path}, which only you can read.\n`)
  if (from?.type === 'variable') await err.write(`${from.name} is set and goes before it.\n`)
  if (server !== null) await err.write(`${server}\n`)
}
