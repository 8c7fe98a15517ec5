import { done, fault, isPathPattern, isPathRule, type PermissionRule, type Result, refuse } from '@holdfast/protocol'
import { parsePattern } from './commands/command-pattern.ts'
import { mayRunPrograms } from './commands/git-commands.ts'
import { programOf } from './commands/known-programs.ts'
import { globProblem, isAddress } from './path-glob.ts'

/**
 * Refuses an allow rule that would allow every command, now or in a file that the agent can write, and a rule about paths whose
 * pattern cannot be read.
 */
export function refuseRule(rule: PermissionRule): Result<undefined> {
  const { tool, pattern, exact, verdict } = rule
  if (pattern !== undefined && isPathRule(rule) && (tool !== '*' || isPathPattern(pattern)) && !isAddress(pattern)) {
    const unreadable = globProblem(pattern)
    if (unreadable !== null) return refuse(fault('bad_request', unreadable, { tool, pattern }))
  }
  if (verdict !== 'allow' || (exact && pattern !== undefined) || (tool !== 'shell' && tool !== '*')) return done
  const problem = pattern === undefined ? everyCommand : tool === '*' && isGlob(pattern) ? null : problemOf(pattern)
  return problem === null
    ? done
    : refuse(fault('bad_request', problem, { tool, ...(pattern !== undefined && { pattern }) }))
}

const everyCommand = 'This rule would allow every command. Give a pattern, such as: git status.'

/** Whether a pattern is one for paths: no program has such a name. */
const isGlob = (pattern: string): boolean => /^[^\s]*[/*]/.test(pattern) && pattern !== '*' && pattern !== '**'

function problemOf(pattern: string): string | null {
  const { words, isOpen } = parsePattern(pattern)
  const [first = ['']] = words
  const [program = ''] = first
  if (words.length === 0 || first.length > 1 || !/^[\w@%+:,./-]+$/.test(program)) return everyCommand
  if (program.includes('/'))
    return `Name the program without its folder: ${program.slice(program.lastIndexOf('/') + 1)}.`
  const hasStar = isOpen || words.some((word) => word.length > 1)
  if (!hasStar) return null
  const { isUnbounded, namedWords = 1 } = programOf(program)
  if (isUnbounded)
    return `${program} can run programs or write any file, so a wildcard after it would allow too much. Name the whole command.`
  const [command = '', argument = ''] = words.slice(1).map((word) => (word.length === 1 ? word[0] : ''))
  if (program === 'git' && mayRunPrograms([command, argument]))
    return `git ${command} can set programs that git runs, so a wildcard after it would allow too much. Name the whole command.`
  const isRun = /^(npm|pnpm|yarn|bun)$/.test(program) && /^(run|run-script|exec|x|dlx)$/.test(words[1]?.[0] ?? '')
  const open = words.findIndex(([beginning]) => beginning === '')
  const named = open < 0 ? words.length : open
  const needed = isRun ? 3 : namedWords
  if (named >= needed) return null
  const example = isRun ? `${program} run build` : `${program} status`
  return `Some ${program} commands run any program, so a wildcard may not choose which one. Name it, as in: ${example}.`
}
