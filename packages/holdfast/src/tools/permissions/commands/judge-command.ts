import type { Permission } from '@holdfast/protocol'
import { workOfSlice } from '../../../system/work-slices.ts'
import { allows, forbids, forbidsWithin, parsePattern } from './command-pattern.ts'
import { findCommands } from './find-commands.ts'
import type { IsLinkedOut } from './outside-links.ts'
import { type PlainCommand, parsePlainCommands } from './plain-commands.ts'

/** The verdict of rules on a call, and the rules that decided. */
export type Judged<Rule extends Permission = Permission> = {
  readonly verdict: Permission['verdict']
  readonly rules: readonly Rule[]
}

/** What the judge has to know of the machine. */
export type CommandFacts = {
  /** Whether the shell finds a program of this name outside the workdir. */
  readonly isOutside: (program: string) => Promise<boolean>
  /** Finds the words that lead outside the workdir through links. */
  readonly findLinkedOut: (commands: readonly PlainCommand[]) => Promise<IsLinkedOut>
}

/**
 * Judges a shell command by rules with patterns: deny beats ask beats allow; null when none applies. A deny or ask rule
 * matches every command that the text may run; one that cannot be excluded becomes a question. An allow rule needs proof
 * that the shell runs exactly the commands that rules allow.
 */
export async function judgeCommand<Rule extends Permission>(
  rules: readonly Rule[],
  text: string,
  facts: CommandFacts,
): Promise<Judged<Rule> | null> {
  const found = await findForbidden(rules, text)
  if (found) return found
  const allowing = rules.filter(({ verdict }) => verdict === 'allow')
  const exact = allowing.find(({ exact: isExact, pattern }) => isExact && pattern === text)
  if (exact) return { verdict: 'allow', rules: [exact] }
  const patterns = allowing.filter(({ exact: isExact }) => !isExact)
  return patterns.length === 0 ? null : findAllowed(patterns, text, facts)
}

async function findForbidden<Rule extends Permission>(
  rules: readonly Rule[],
  text: string,
): Promise<Judged<Rule> | null> {
  const strict = rules.filter(({ verdict }) => verdict !== 'allow')
  if (strict.length === 0) return null
  const found = findCommands(text)
  const asked: Rule[] = []
  for (const rule of strict) {
    const matches = await matchOf(rule, text, found)
    if (matches === 'yes' && rule.verdict === 'deny') return { verdict: 'deny', rules: [rule] }
    if (matches !== 'no') asked.push(rule)
  }
  return asked.length > 0 ? { verdict: 'ask', rules: asked } : null
}

/** What it costs to compare a pattern with a command, beside its words. */
const stepsPerCommand = 20

/** Counts the comparison with a command, in a slice of its own if many came before: rules times commands can be a million. */
async function countCommand({ length }: readonly unknown[]): Promise<void> {
  const current = workOfSlice()
  const work = current instanceof Promise ? await current : current
  work.steps += stepsPerCommand + length * stepsPerWord
}

const stepsPerWord = 5

async function matchOf(
  { pattern = '', exact }: Permission,
  text: string,
  { commands, guesses, isWhole }: ReturnType<typeof findCommands>,
): Promise<'yes' | 'no' | 'maybe'> {
  if (exact) return pattern === text ? 'yes' : 'no'
  const parsed = parsePattern(pattern)
  let isPossible = !isWhole
  for (const command of commands) {
    await countCommand(command)
    const matches = forbids(parsed, command)
    if (matches === 'yes') return 'yes'
    if (matches === 'maybe') isPossible = true
  }
  for (const guess of guesses) {
    if (isPossible) break
    await countCommand(guess)
    isPossible = forbidsWithin(parsed, guess)
  }
  return isPossible ? 'maybe' : 'no'
}

async function findAllowed<Rule extends Permission>(
  rules: readonly Rule[],
  text: string,
  facts: CommandFacts,
): Promise<Judged<Rule> | null> {
  const commands = parsePlainCommands(text)
  if (!commands) return null
  const parsed = rules.map((rule) => ({ rule, pattern: parsePattern(rule.pattern ?? '') }))
  const rulesFor = async (isLinkedOut: IsLinkedOut): Promise<ReadonlySet<Rule> | null> => {
    const used = new Set<Rule>()
    for (const command of commands) {
      let by: Rule | null = null
      for (const { rule, pattern } of parsed) {
        await countCommand(command)
        if (allows(pattern, command, isLinkedOut)) by = rule
        if (by) break
      }
      if (by) used.add(by)
      else if (!isCdInside(command, isLinkedOut)) return null
    }
    return used.size === 0 ? null : used
  }
  // Links are looked up on the disk, so only for commands that rules would allow without them.
  const used = (await rulesFor(() => false)) && (await rulesFor(await facts.findLinkedOut(commands)))
  if (used === null) return null
  for (const [program] of commands) if (!(await facts.isOutside(program))) return null
  return { verdict: 'allow', rules: [...used] }
}

/** Whether a command only goes to a folder below: a list of allowed commands may begin with it. */
const isCdInside = (command: PlainCommand, isLinkedOut: IsLinkedOut): boolean =>
  allows({ words: [['cd'], ['', '']], isOpen: false }, command, isLinkedOut) && !command[1]?.startsWith('-')
