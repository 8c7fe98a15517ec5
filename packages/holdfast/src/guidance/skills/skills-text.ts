import { clip } from '@holdfast/protocol'
import type { SkillFile } from './parse-skill.ts'

type Listed = Pick<SkillFile, 'description' | 'whenToUse'> & { readonly name: string }

/** What the model is told of its skills, and the names of those whose description did not fit. */
export type SkillsText = { readonly text: string; readonly cut: readonly string[] }

const entryCharsMax = 1536

/**
 * Returns the list of skills for the model: every name, and descriptions as far as they fit, the first ones first. It is
 * empty without skills.
 */
export function writeSkillsText(skills: readonly Listed[], charsMax: number): SkillsText {
  if (skills.length === 0) return { text: '', cut: [] }
  const cut: string[] = []
  let left = charsMax - skills.reduce((sum, { name }) => sum + name.length + lineChars, 0)
  const lines = skills.map(({ name, description, whenToUse }) => {
    const about = clip(plain([description, whenToUse ?? ''].join(' ')), entryCharsMax)
    if (about === '') return `- ${name}`
    if (about.length > left) {
      cut.push(name)
      return `- ${name}`
    }
    left -= about.length
    return `- ${name}: ${about}`
  })
  const note = cut.length > 0 ? `\nThe descriptions of ${cut.length} of them are left out for lack of space.` : ''
  return { text: `# Skills\n\n${introduction}\n\n${lines.join('\n')}${note}`, cut }
}

const lineChars = '- : \n'.length

const introduction =
  'Skills are instructions for special tasks. When a task fits one, call the tool skill with its name before you begin, and follow what it returns.'

/** Returns a text as one line without control characters and tags: it stands inside our own text. */
const plain = (text: string): string =>
  text
    .replace(/\p{Cc}+/gu, ' ')
    .replaceAll('<', '‹')
    .replaceAll('>', '›')
    .replace(/ +/g, ' ')
    .trim()
