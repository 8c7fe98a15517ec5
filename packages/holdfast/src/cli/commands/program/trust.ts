import { parse } from 'node:path'
import { diffLines, type JudgedOffer, type OfferTrust } from '@holdfast/protocol'
import { fault } from '@holdfast/protocol/fault'
import { escapeLine } from '@holdfast/protocol/hostile-text'
import { didYouMean } from '@holdfast/protocol/nearest'
import { orThrow } from '@holdfast/protocol/result'
import { shellWord } from '../../../system/shell-word.ts'
import type { ArgsOf, RunCommand } from '../../args/command-spec.ts'
import { findAction } from '../../args/find-action.ts'
import { resolveWorkspace } from '../../connect/workspace.ts'
import { textTable } from '../../render/text-table.ts'
import type { CliContext } from '../../terminal/cli-context.ts'
import { failWith, rejectUsage } from '../../terminal/exit.ts'
import type { programSpecs } from './specs.ts'

type Args = ArgsOf<typeof programSpecs.trust>
type Work = (trust: OfferTrust, args: Args, context: CliContext) => Promise<void>

/** Shows what the files of a workspace offer, and trusts it. Running sessions see a change at their next step. */
export const run: RunCommand<typeof programSpecs.trust> = async (args, context) => {
  const [action = 'show'] = args.positionals
  const work = findAction('trust', action, actions)
  if (args.flags.all && action !== 'grant') rejectUsage('--all belongs to trust grant.')
  await work(await openTrust(context), args, context)
}

/** Opens the trust of this user, or of the user who runs the server of `--url`. */
async function openTrust({ server, home }: CliContext): Promise<OfferTrust> {
  if (server) return (await import('../../connect/connect-given.ts')).connectTrust(server)
  const { openOfferTrust } = await import('../../../open/open-offer-trust.ts')
  return openOfferTrust(home)
}

const show: Work = async (trust, { positionals, flags }, context) => {
  const { out, err } = context
  if (positionals.length > 1) rejectUsage('trust show takes no names. Use --workspace for another folder.')
  const found = orThrow(await trust.offers(workdirOf(context, flags)))
  if (flags.json) return out.writeJson(found)
  if (found.offers.length === 0) return err.tell(`${escapeLine(found.workspace)} offers nothing that needs trust.`)
  const rows = found.offers.map(({ kind, name, verdict }) => [verdict, kind, escapeLine(name)])
  await out.write(textTable(['TRUST', 'KIND', 'NAME'], rows, out))
  const untrusted = found.offers.filter(({ verdict }) => verdict !== 'trusted')
  for (const offer of untrusted) await out.write(`\n${detailsOf(offer)}`)
  const [first] = untrusted
  if (first)
    await err.tell(
      `\nTo trust all of it: holdfast trust grant --all. To trust one: holdfast trust grant ${shellWord(first.name)}`,
    )
}

const grant: Work = async (trust, { positionals: [, ...names], flags }, context) => {
  if (names.length === 0 && !flags.all) rejectUsage('trust grant needs names, or --all. holdfast trust shows them.')
  const workdir = workdirOf(context, flags)
  const { offers, workspace } = orThrow(await trust.offers(workdir))
  for (const name of names)
    if (!offers.some((offer) => offer.name === name))
      return failWith(
        fault(
          'not_found',
          `${escapeLine(workspace)} does not offer ${escapeLine(name)}.${suggest(name, offers) || ' holdfast trust shows what it offers.'}`,
          { name },
        ),
      )
  const meant = offers.filter(({ name, verdict }) => verdict !== 'trusted' && (flags.all || names.includes(name)))
  for (const offer of meant) await context.err.write(`${detailsOf(offer)}${wholeOf(offer)}`) // what is trusted is always shown
  const now =
    meant.length > 0 ? orThrow(await trust.grant({ workdir, offers: meant.map(idOf) })) : { workspace, offers }
  if (flags.json) return context.out.writeJson(now)
  await context.err.tell(
    meant.length === 0 ? 'All of it is trusted already.' : `Trusted ${listed(meant)} of ${escapeLine(workspace)}.`,
  )
}

const namedMax = 10

/** Names offers; of many, says how many of each kind there are. */
function listed(offers: readonly Pick<JudgedOffer, 'kind' | 'name'>[]): string {
  if (offers.length <= namedMax) return offers.map(({ kind, name }) => `${kind} ${escapeLine(name)}`).join(', ')
  const kinds = Map.groupBy(offers, ({ kind }) => kind)
  const plural = (kind: JudgedOffer['kind']) => (kind === 'memory' ? 'memories' : `${kind}s`)
  return [...kinds].map(([kind, { length }]) => `${length} ${length === 1 ? kind : plural(kind)}`).join(', ')
}

/** Suggests the offer that was likely meant: one with this file name, or the most similar. */
function suggest(given: string, offers: readonly JudgedOffer[]): string {
  const named = offers.find(({ name }) => parse(name).name === given || parse(name).base === given)
  return named
    ? ` Did you mean '${escapeLine(named.name)}'?`
    : didYouMean(
        given,
        offers.map(({ name }) => name),
      )
}

const revoke: Work = async (trust, { positionals, flags }, context) => {
  if (positionals.length > 1) rejectUsage('trust revoke takes no names: it takes back all trust in the workspace.')
  const revoked = orThrow(await trust.revoke(workdirOf(context, flags)))
  if (flags.json) return context.out.writeJson(revoked)
  const { workspace, wasTrusted } = revoked
  await context.err.tell(
    wasTrusted ? `${escapeLine(workspace)} is not trusted any more.` : `${escapeLine(workspace)} was not trusted.`,
  )
}

const list: Work = async (trust, { positionals, flags }, { out }) => {
  if (positionals.length > 1) rejectUsage('trust list takes no names.')
  const workspaces = orThrow(await trust.list())
  if (flags.json) return out.writeJson({ workspaces })
  const rows = workspaces.map(({ workspace, items }) => [
    escapeLine(workspace),
    items.map(({ kind, name }) => `${kind} ${escapeLine(name)}`).join(', '),
  ])
  await out.write(textTable(['WORKSPACE', 'TRUSTED'], rows, out))
}

const actions = { show, grant, revoke, list }

const workdirOf = (context: CliContext, { workspace }: Args['flags']): string =>
  orThrow(resolveWorkspace(context, workspace))

const idOf = ({ kind, name, hash }: JudgedOffer) => ({ kind, name, hash })

/** Returns what an offer says, or what changed of it by lines. Each line is marked: a text could imitate the rest. */
function detailsOf({ kind, name, text, verdict, diff }: JudgedOffer): string {
  const heading = `${kind} ${escapeLine(name)}${verdict === 'changed' ? ', changed since you trusted it' : ''}`
  return `${heading}:\n${diff === null ? marked('|', text) : linesOf(diff)}`
}

/** Returns the whole text of an offer of which `detailsOf` shows only the changed lines. */
const wholeOf = ({ text, diff }: JudgedOffer): string => (diff === null ? '' : `All of it:\n${marked('|', text)}`)

const marked = (mark: string, text: string): string =>
  text
    .split('\n')
    .map((line) => `${mark} ${escapeLine(line)}\n`)
    .join('')

/** Returns the lines of a diff, with dots where equal lines are left out between two of its parts. */
function linesOf(diff: string): string {
  let isBegun = false
  const shown = diffLines(diff).map(({ kind, text }) => {
    if (kind === 'file' || kind === 'note') return ''
    if (kind !== 'hunk') return marked(text.slice(0, 1) || ' ', text.slice(1))
    const between = isBegun ? '…\n' : ''
    isBegun = true
    return between
  })
  return shown.join('')
}
