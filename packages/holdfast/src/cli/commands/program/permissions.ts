import type { ListedPermission, PermissionRule, PermissionRules } from '@holdfast/protocol'
import { fault } from '@holdfast/protocol/fault'
import { escapeLine } from '@holdfast/protocol/hostile-text'
import { orThrow } from '@holdfast/protocol/result'
import { coverageText, listCoverageText } from '@holdfast/protocol/rule-coverage'
import type { ArgsOf, RunCommand } from '../../args/command-spec.ts'
import { findAction } from '../../args/find-action.ts'
import { textTable } from '../../render/text-table.ts'
import type { CliContext } from '../../terminal/cli-context.ts'
import { failWith, rejectUsage } from '../../terminal/exit.ts'
import type { programSpecs } from './specs.ts'

type Args = ArgsOf<typeof programSpecs.permissions>
type Work = (rules: PermissionRules, args: Args, context: CliContext) => Promise<void>

/** Lists and changes the user's rules. A running server applies a change from the next call on. */
export const run: RunCommand<typeof programSpecs.permissions> = async (args, context) => {
  const [action = 'list'] = args.positionals
  const work = findAction('permissions', action, actions)
  await withRules(context, (rules) => work(rules, args, context))
}

/** Runs `work` on the rules of this user and of the store, or on those of the server of `--url`. */
async function withRules(context: CliContext, work: (rules: PermissionRules) => Promise<void>): Promise<void> {
  const { server, home } = context
  if (server) return work((await import('../../connect/connect-given.ts')).connectPermissions(server))
  const { openPermissionRules, withPermissionRows } = await import('../../../open/permission-rules.ts')
  return withPermissionRows(context, (rows) => work(openPermissionRules(home, rows)))
}

const list: Work = async (rules, { positionals, flags }, { out, err }) => {
  if (positionals.length > 1) rejectUsage('permissions list takes no arguments. Use --workspace for one folder.')
  const found = orThrow(await rules.list({ workspace: flags.workspace }))
  if (flags.json) return out.writeJson({ permissions: found })
  const rows = found.map((rule) => [rule.id, rule.verdict, escapeLine(rule.tool), patternCell(rule), whereCell(rule)])
  await out.write(textTable(['ID', 'VERDICT', 'TOOL', 'PATTERN', 'WHERE'], rows, out))
  const about = listCoverageText(found)
  if (about !== null) await err.tell(about)
}

const add: Work = async (rules, { positionals: [, verdict, tool, pattern], flags }, { out, err }) => {
  const example = "For example: holdfast permissions add allow shell 'git status'"
  if (verdict !== 'allow' && verdict !== 'ask' && verdict !== 'deny')
    return rejectUsage(`permissions add needs a verdict: allow, ask or deny. ${example}`)
  if (tool === undefined) return rejectUsage(`permissions add needs a tool, or '*' for every tool. ${example}`)
  const rule: PermissionRule = { tool, verdict, ...(pattern !== undefined && { pattern }) }
  const { workspace } = flags
  const added = orThrow(await rules.add({ ...rule, ...(workspace !== undefined && { workspace }) }))
  if (flags.json) return out.writeJson(added)
  const about = coverageText(added)
  await err.tell(`Added rule ${added.id}: ${sentenceOf(added)}${about === null ? '' : `\n${about}`}`)
}

const remove: Work = async (rules, { positionals: [, id], flags }, { out, err }) => {
  if (id === undefined)
    return rejectUsage('permissions remove needs the id of a rule. holdfast permissions lists them.')
  if (flags.workspace !== undefined) rejectUsage('permissions remove takes no --workspace: the id is enough.')
  const removed = await rules.remove(id)
  if (!removed.ok && removed.fault.code === 'not_found')
    return failWith(fault('not_found', `There is no rule ${escapeLine(id)}. holdfast permissions lists them.`, { id }))
  const rule = orThrow(removed)
  if (flags.json) return out.writeJson(rule)
  await err.tell(`Removed rule ${rule.id}: ${sentenceOf(rule)}`)
}

const actions = { list, add, remove }

const patternCell = ({ pattern, exact }: ListedPermission): string =>
  pattern === undefined ? 'every call' : `${escapeLine(pattern)}${exact ? ' (exactly)' : ''}`

const whereCell = ({ workspace }: ListedPermission): string =>
  workspace === undefined ? 'everywhere' : escapeLine(workspace)

const sentenceOf = (rule: ListedPermission): string =>
  `${rule.verdict} ${escapeLine(rule.tool)}, ${patternCell(rule)}, ${whereCell(rule)}.`
