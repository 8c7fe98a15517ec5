import { ownSlice, type Permissions, type RuledCall, type Ruling, type StoredRule } from '@holdfast/core/ports'
import {
  done,
  escapeLine,
  type Fault,
  isTrustedExactly,
  noWorkdir,
  ok,
  type Permission,
  PermissionListOptions,
  PermissionRule,
  type PermissionRules,
  parseOptions,
  parseRuleId,
  type Result,
} from '@holdfast/protocol'
import { resolveWorkdir } from '../../system/files/resolve-path.ts'
import type { ReadRules } from '../define/read-rules.ts'
import type { CommandRules } from '../shell/confinement.ts'
import { findExcess, findUnreadable, fitsTargets, isRuleFor, targetsOf } from './call-targets.ts'
import type { Judged } from './commands/judge-command.ts'
import { deniedPaths, deniedTest, findNamedPaths } from './denied-paths.ts'
import { refuseRule } from './refuse-rule.ts'
import { createUserRules, type RulePlaces } from './user-rules.ts'

type PermissionDeps = RulePlaces & {
  /** Where the shell searches programs. */
  readonly searchPath?: string | undefined
}

type Rule = Permission & { readonly isOwn?: boolean }

/** Creates the judge of calls by the user's rules. */
export function createPermissions({
  searchPath,
  ...places
}: PermissionDeps): Permissions & PermissionRules & CommandRules & ReadRules {
  const rules = createUserRules(places)
  return {
    async judge(call, own) {
      const found = await rules.read()
      if (!found.ok) return unreadable(found.fault, found.isAway)
      const users = found.value.filter(isFor(call.workdir))
      const all: readonly Rule[] = [...own.map((rule) => ({ ...rule, isOwn: true })), ...users]
      const ofTool = all.filter((rule) => isRuleFor(rule, call.tool))
      const patterned = ofTool.filter(({ pattern }) => pattern !== undefined)
      const excess = patterned.length > 0 ? (findExcess(call) ?? findUnreadable(patterned, call)) : null
      const compared = excess === null ? ofTool : ofTool.filter(({ pattern }) => pattern === undefined)
      const { command } = call.args
      const isLong = typeof command === 'string' && command.length > shortCharsMax
      if (isLong) await ownSlice() // up to 64 calls are judged at once
      const judged = compared.length === 0 ? null : await judgeCall(compared, call, searchPath)
      // A rule that allows covers no such call. One that forbids might, so nothing but a person may allow it.
      if (excess !== null && judged?.verdict !== 'deny' && patterned.some(({ verdict }) => verdict !== 'allow'))
        return { verdict: 'unknown', reason: `the rules were not compared with this call: ${excess}` }
      const isDecided = judged !== null && judged.verdict !== 'allow'
      if (call.tool === 'shell' && typeof command === 'string' && !isDecided) {
        if (isLong) await ownSlice()
        const named = await findNamedPaths(all, command, call.workdir)
        if (named.length > 0) return { verdict: 'ask', by: namesOf(named) }
      }
      return judged && { verdict: judged.verdict, by: namesOf(judged.rules) }
    },
    refuse: (own) => own.map(refuseRule).find(({ ok }) => !ok) ?? done,
    async deniedPaths(workdir) {
      const found = await rules.read()
      return found.ok ? ok(deniedPaths(found.value.filter(isFor(workdir)), workdir)) : found
    },
    async deniedTest(tool, { workdir, permissions: own = [] }) {
      const found = await rules.read()
      return found.ok ? deniedTest([...own, ...found.value.filter(isFor(workdir))], tool, workdir) : found
    },
    /** Rules of the tool `network` have patterns of commands: those that get the network in the sandbox. */
    async judgeNetwork(command, workdir) {
      const found = await rules.read()
      if (!found.ok) return 'ask'
      const ofNetwork = found.value.filter(isFor(workdir)).filter(({ tool }) => tool === networkTool)
      const call = { tool: networkTool, args: { command }, workdir }
      return (await judgeCall(ofNetwork, call, searchPath))?.verdict ?? null
    },
    async allow(call): Promise<Result<StoredRule | null>> {
      const rule = ruleFor(call)
      if (rule === null) return ok(null)
      const added = await rules.add(rule)
      if (!added.ok) return added
      const { workspace, ...permission } = rule
      return ok({ rule: permission, by: namesOf([rule]) })
    },
    async list(given = {}) {
      const options = parseOptions(PermissionListOptions, given, 'list the rules')
      if (!options.ok) return options
      const { workspace } = options.value
      const found = await rules.read()
      if (!found.ok || workspace === undefined) return found
      const folder = workspace === noWorkdir ? ok(noWorkdir) : await resolveWorkdir(workspace)
      if (!folder.ok) return folder
      return ok(found.value.filter(isFor(folder.value)))
    },
    async add(given) {
      const parsed = parseOptions(PermissionRule, given, 'add the rule')
      if (!parsed.ok) return parsed
      const { workspace, ...rule } = parsed.value
      const refused = refuseRule(rule)
      if (!refused.ok) return refused
      if (workspace === undefined) return rules.add(rule)
      const folder = await resolveWorkdir(workspace)
      return folder.ok ? rules.add({ ...rule, workspace: folder.value }) : folder
    },
    async remove(given) {
      const id = parseRuleId(given)
      return id.ok ? rules.remove(id.value) : id
    },
  }
}

/** Says that nothing is known of the rules, and whether to read them again when their store is back. */
const unreadable = (why: Fault, isAway = false): Ruling => ({
  verdict: 'unknown',
  reason: `your rules cannot be read: ${why.message}`,
  ...(isAway && { away: why }),
})

/** A shorter command is parsed and compared in less than a millisecond. */
const shortCharsMax = 1000

/** Returns whether a rule counts in a folder. */
const isFor =
  (workdir: string) =>
  ({ workspace }: PermissionRule): boolean =>
    workspace === undefined || workspace === workdir

/** Not a tool: rules with its name say which commands get the network in the sandbox. */
const networkTool = 'network'

const isOfCommands = (tool: string): boolean => tool === 'shell' || tool === networkTool

/** False for `secrets/**` of a rule for all tools. Without its folder, as programs are compared, it would be any command. */
const canBeCommand = ({ tool, pattern = '' }: Rule): boolean => tool !== '*' || !/^[^*\s]+\/\S*\*\S*$/.test(pattern)

async function judgeCall(
  rules: readonly Rule[],
  call: RuledCall,
  searchPath: string | undefined,
): Promise<Judged<Rule> | null> {
  const judged: (Judged<Rule> | null)[] = []
  for (const rule of rules) {
    // A rule that allows every command is refused, and an older one covers none.
    const isRefused = rule.verdict === 'allow' && call.tool === 'shell'
    if (rule.pattern === undefined && !isRefused) judged.push({ verdict: rule.verdict, rules: [rule] })
  }
  const withPattern = rules.filter(({ pattern }) => pattern !== undefined)
  const { command } = call.args
  if (withPattern.length > 0)
    judged.push(
      isOfCommands(call.tool) && typeof command === 'string'
        ? await judgeShell(withPattern.filter(canBeCommand), command, call.workdir, searchPath)
        : await judgeTargets(withPattern, call),
    )
  for (const verdict of ['deny', 'ask', 'allow'] as const) {
    const found = judged.find((one) => one?.verdict === verdict)
    if (found) return found
  }
  return null
}

/** Loads the parser of commands only for a command that a pattern has to judge. */
async function judgeShell(
  rules: readonly Rule[],
  command: string,
  workdir: string,
  searchPath: string | undefined,
): Promise<Judged<Rule> | null> {
  const { judgeCommand } = await import('./commands/judge-command.ts')
  const { programsOutside } = await import('./commands/find-program.ts')
  const { findLinkedOut } = await import('./commands/outside-links.ts')
  return judgeCommand(rules, command, {
    isOutside: programsOutside(workdir, searchPath),
    findLinkedOut: (commands) => findLinkedOut(commands, workdir),
  })
}

async function judgeTargets(rules: readonly Rule[], call: RuledCall): Promise<Judged<Rule> | null> {
  const targets = await targetsOf(call)
  const text = rules.some(({ exact }) => exact) ? textOf(call) : null
  const fitting: Rule[] = []
  for (const rule of rules) {
    const fits = rule.exact ? rule.pattern === text : await fitsTargets(rule, targets, call.workdir)
    if (fits) fitting.push(rule)
  }
  for (const verdict of ['deny', 'ask', 'allow'] as const) {
    const one = fitting.find((rule) => rule.verdict === verdict)
    if (one) return { verdict, rules: [one] }
  }
  return null
}

const patternCharsMax = 1000

/** Returns the rule that allows a call in its workspace: this exact call of a tool with broad effects, else every call. */
function ruleFor({ tool, args, workdir }: RuledCall): PermissionRule | null {
  const rule = { tool, verdict: 'allow' as const, workspace: workdir }
  if (!isTrustedExactly(tool)) return rule
  const pattern = textOf({ tool, args })
  return pattern.length > patternCharsMax ? null : { ...rule, pattern, exact: true }
}

/** Returns the whole call as a text: the command of a shell, the arguments of other tools. */
function textOf({ tool, args }: Pick<RuledCall, 'tool' | 'args'>): string {
  const { command } = args
  return tool === 'shell' && typeof command === 'string' ? command : JSON.stringify(args, sortedKeys)
}

const sortedKeys = (_: string, value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).toSorted(([left], [right]) => (left < right ? -1 : 1)))
    : value

/** Names rules for people: "your rule `git status`". */
function namesOf(rules: readonly Rule[]): string {
  const name = ({ tool, pattern }: Rule) =>
    `\`${escapeLine(tool === 'shell' && pattern !== undefined ? pattern : [tool, pattern ?? []].flat().join(' '))}\``
  const whose = (all: readonly Rule[], owner: string) =>
    all.length === 0 ? [] : [`${owner} rule${all.length > 1 ? 's' : ''} ${all.map(name).join(', ')}`]
  const yours = rules.filter(({ isOwn }) => !isOwn)
  const own = rules.filter(({ isOwn }) => isOwn)
  return [...whose(yours, 'your'), ...whose(own, "the session's")].join(' and ')
}
