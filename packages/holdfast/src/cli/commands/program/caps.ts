import type { CapScope, ListedCap, Spending, SpendingCaps, Spent } from '@holdfast/protocol'
import { escapeLine } from '@holdfast/protocol/hostile-text'
import { orThrow } from '@holdfast/protocol/result'
import type { ArgsOf, RunCommand } from '../../args/command-spec.ts'
import { findAction } from '../../args/find-action.ts'
import { withSpending } from '../../connect/connect.ts'
import { textTable } from '../../render/text-table.ts'
import type { CliContext } from '../../terminal/cli-context.ts'
import { rejectUsage } from '../../terminal/exit.ts'
import type { Output } from '../../terminal/output.ts'
import type { programSpecs } from './specs.ts'

type Args = ArgsOf<typeof programSpecs.caps>
type Work = (spending: SpendingCaps, args: Args, context: CliContext) => Promise<void>

/** Shows what was spent and the caps, and changes those. A running server applies a change from the next model call on. */
export const run: RunCommand<typeof programSpecs.caps> = async (args, context) => {
  const [action = 'list', ...rest] = args.positionals
  const work = findAction('caps', action, actions)
  if (rest.length > 0) return rejectUsage(`caps ${action} takes no arguments. ${setExample}`)
  const { cost, tokens, token, workspace, day } = args.flags
  if (action !== 'set' && (cost !== undefined || tokens !== undefined))
    return rejectUsage('--cost and --tokens belong to caps set.')
  if (action !== 'list' && day !== undefined) return rejectUsage('--day belongs to caps list.')
  if (action === 'list' && (token !== undefined || workspace !== undefined))
    return rejectUsage('--token and --workspace belong to caps set and caps remove.')
  if (action === 'set' && cost === undefined && tokens === undefined)
    return rejectUsage(`caps set needs --cost, --tokens or both. ${setExample}`)
  if (cost !== undefined && !isAmount(cost))
    return rejectUsage(`--cost is a number of dollars, such as 2.50, not '${escapeLine(cost)}'.`)
  return withSpending(context, { creates: action === 'set' }, (spending) => work(spending, args, context))
}

const setExample = 'For example: holdfast caps set --cost 5'

const isAmount = (text: string): boolean => /^\d{1,9}(\.\d{1,6})?$/.test(text)

const list: Work = async (spending, { flags: { day, json } }, { out }) => {
  const found = orThrow(await spending.read({ ...(day !== undefined && { day }) }))
  if (json) return out.writeJson(found)
  await out.write(out.wrap(describe(found, out)))
}

function describe({ day, opensAt, total, tokens, workspaces, caps }: Spending, out: Output): string {
  const sums = (name: string, rows: readonly (readonly [string, Spent])[]) =>
    textTable(
      [name, 'MODEL CALLS', 'TOKENS', 'COST'],
      rows.map(([first, spent]) => [escapeLine(first), String(spent.calls), String(spent.tokens), costOf(spent)]),
      out,
    )
  const byToken = tokens.map((one) => [one.name === null ? one.token : `${one.name} (${one.token})`, one] as const)
  const byWorkspace = workspaces.map((one) => [one.workspace, one] as const)
  const capRows = caps.map((cap) => [
    ...[escapeLine(scopeOf(cap)), cap.maxCost === null ? '' : `$${cap.maxCost}`],
    ...[cap.maxTokens === null ? '' : String(cap.maxTokens), costOf(cap.spent), String(cap.spent.tokens)],
    ...[cap.isReached ? `reached, opens ${opensAt}` : 'open', cap.setBy],
  ])
  return [
    `Spent on ${day} (UTC):\n`,
    sums('BY', [...byToken, ['all', total]]),
    ...(byWorkspace.length > 0 ? [sums('WORKSPACE', byWorkspace)] : []),
    caps.length === 0
      ? 'There are no caps. holdfast caps set makes one.\n'
      : textTable(['CAP', 'DOLLARS', 'TOKENS', 'SPENT TODAY', 'TOKENS TODAY', 'STATE', 'SET BY'], capRows, out),
  ].join('\n')
}

function costOf({ cost, unpriced }: Spent): string {
  if (cost === null) return 'unknown'
  return `$${cost.toFixed(4)}${unpriced === 0 ? '' : ` + ${unpriced} unpriced`}`
}

function scopeOf({ token, name, workspace }: Pick<ListedCap, 'token' | 'name' | 'workspace'>): string {
  if (token !== null) return name === null ? `token ${token}` : `token ${name} (${token})`
  return workspace === null ? 'everything' : workspace
}

const set: Work = async (spending, { flags }, { out, err }) => {
  const { cost, tokens, json } = flags
  const amounts = {
    ...(cost !== undefined && { maxCost: Number(cost) }),
    ...(tokens !== undefined && { maxTokens: tokens }),
  }
  const { caps } = orThrow(await spending.read({}))
  const cap = orThrow(await spending.set({ ...scopeIn(flags), ...amounts }))
  if (json) return out.writeJson(cap)
  const limits = [
    ...(cap.maxCost === null ? [] : [`$${cap.maxCost}`]),
    ...(cap.maxTokens === null ? [] : [`${cap.maxTokens} tokens`]),
  ]
  const state = cap.isReached ? 'It is reached now.' : `${costOf(cap.spent)} was spent today.`
  await err.tell(`Set the cap for ${escapeLine(scopeOf(cap))}: ${limits.join(' and ')} a day. ${state}`)
  const before = caps.find((one) => one.setBy === cap.setBy && scopeOf(one) === scopeOf(cap))
  const lost = [
    ...(before?.maxCost != null && cap.maxCost === null ? [`$${before.maxCost}`] : []),
    ...(before?.maxTokens != null && cap.maxTokens === null ? [`${before.maxTokens} tokens`] : []),
  ]
  if (lost.length > 0)
    await err.tell(`The limit of ${lost.join(' and ')} is gone. To have both, give --cost and --tokens together.`)
}

const remove: Work = async (spending, { flags }, { out, err }) => {
  const cap = orThrow(await spending.remove(scopeIn(flags)))
  if (flags.json) return out.writeJson(cap)
  await err.tell(`Removed the cap for ${escapeLine(scopeOf(cap))}.`)
}

const scopeIn = ({ token, workspace }: Args['flags']): CapScope => ({
  ...(token !== undefined && { token }),
  ...(workspace !== undefined && { workspace }),
})

const actions = { list, set, remove }
