import { clip } from '@holdfast/protocol'

const saidCharsMax = 2000

type Told = readonly [RegExp, (...groups: readonly string[]) => string]

/** The texts in a prompt that no person wrote. The demo says that it has them, and takes no requests from them. */
const kinds: readonly Told[] = [
  [/^Context from a hook:\s*([\s\S]*)$/, (context = '') => `A hook told me:\n\n${quote(context)}`],
  [/^System message:\s*([\s\S]*)$/, (notice = '') => `I was told:\n\n${quote(notice)}`],
  [
    /^<skill_content name="([^"]*)"/,
    (name = '') => `I have the text of the skill ${name}. A real model would follow it; I only say so.`,
  ],
  [
    /^The work of subagent [^\n]*\n<subagent_result name="([^"]*)" status="([^"]*)">\n([\s\S]*)\n<\/subagent_result>$/,
    (name = '', status = '', said = '') => `Subagent ${name} has ended: ${status}. It said:\n\n${quote(said)}`,
  ],
]

const quote = (text: string): string => clip(text.trim(), saidCharsMax).replaceAll(/^/gm, '> ')

/** Returns what the demo says about a text that a hook, a skill, a subagent or the runtime added; null if a person wrote it. */
export function readTold(text: string): string | null {
  for (const [pattern, say] of kinds) {
    const found = pattern.exec(text)
    if (found) return say(...found.slice(1))
  }
  return null
}
