import { escapeLine } from '../text/hostile-text.ts'
import { didYouMean } from '../text/nearest.ts'
import type { Permission } from '../value/settings.ts'

/** Whether a pattern can only be that of a path: no command is called like this. */
export const isPathPattern = (pattern: string): boolean => /^\S*\/\S*$|^\.\S+$|^\*\S*\.\S+$/.test(pattern)

/** The tools whose patterns are paths. */
const fileTools: ReadonlySet<string> = new Set([
  ...['read_file', 'write_file', 'edit_file', 'multi_edit_file', 'apply_diff', 'delete_file', 'move_file'],
  ...['list_directory', 'find', 'grep', 'git_diff', 'git_log', 'git_stage'],
])

/** Every name that a rule can have without MCP servers and without tools of a program. */
export const ruleTools: readonly string[] = [
  ...fileTools,
  ...['shell', 'shell_output', 'shell_stop', 'fetch_url', 'git_status', 'git_commit', 'memory_write', 'todo_write'],
  ...['todo_read', 'skill', 'subagent', 'describe_tools', 'network', '*'],
]

/** Says that no built-in tool has the name of a rule; null if one has, or if it is a tool of a server. */
function unknownToolText({ tool }: Pick<Permission, 'tool'>): string | null {
  if (tool === '' || ruleTools.includes(tool) || tool.startsWith('mcp__')) return null
  return `Warning: no built-in tool is called ${escapeLine(tool)}, so this rule covers nothing unless a program adds that tool.${didYouMean(tool, ruleTools)}`
}

/** Whether a rule is about paths: of file tools every pattern is one, and so it is for them in a rule for all tools. */
export const isPathRule = ({ tool, pattern, exact }: Permission): boolean =>
  pattern !== undefined && !exact && (fileTools.has(tool) || tool === '*')

/** Returns the path of a pattern that names one file or a whole folder (`secrets/**`); null for any other pattern. */
export function literalPath(pattern: string): string | null {
  const path = pattern.replace(/\/\*\*$/, '')
  return /[*?[\]{}()!]/.test(path) ? null : path
}

const notShell = 'does not cover shell commands'

/** Says what a rule does not cover, though it looks as if it did; null if there is nothing to say. */
export function coverageText(rule: Permission): string | null {
  const { tool, pattern = '', verdict } = rule
  const unknown = unknownToolText(rule)
  if (unknown !== null) return unknown
  if (tool === 'shell' && !rule.exact && isPathPattern(pattern) && verdict !== 'allow')
    return 'A pattern for shell is the words of a command, not a path. To deny a path, use the tool * instead.'
  const isCommand = tool === '*' && /\s/.test(pattern) // several words: most likely those of a command
  if (!isPathRule(rule) || isCommand || verdict === 'allow') return null
  const isName = !/[*/]/.test(pattern) // people expect it to match in every folder, as in .gitignore
  const where = isName ? ` It is about the workdir itself: use **/${escapeLine(pattern)} for every folder.` : ''
  const covered = `It covers tools that name a path, such as read_file and edit_file.${where} It ${notShell}`
  if (verdict === 'ask') return `${covered}: they can read and change the file.`
  // In a rule for all tools a pattern that begins with a wildcard also matches the text of a command.
  const isText = tool === '*' && pattern.startsWith('*')
  const named = isText ? 'denied or asked about, and so may be one with a variable' : 'asked about'
  const hidden = literalPath(pattern) !== null && (tool === '*' || tool === 'read_file')
  const sandbox = hidden ? 'In the sandbox it is hidden from commands. Without the sandbox' : 'Otherwise'
  return `${covered}: one that names such a path is ${named}. ${sandbox} a command that you allow can reach it in other ways.`
}

/** Says below a list of rules what those about paths do not cover; null if it has none. */
export const listCoverageText = (rules: readonly Permission[]): string | null =>
  rules.some((rule) => coverageText(rule)?.includes(notShell))
    ? `A rule about a path ${notShell}: one that names a denied path is asked about or denied, and can reach it in other ways.`
    : null
