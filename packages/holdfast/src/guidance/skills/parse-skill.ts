import { clip, escapeLine } from '@holdfast/protocol'
import { type FileProblem, readMarkdownFile } from '../front-matter/front-matter.ts'

/** What a SKILL.md says. */
export type SkillFile = {
  /** What it is for. The model chooses skills by it. */
  readonly description: string
  /** When to use it, in words; added to the description. */
  readonly whenToUse: string | null
  /** The arguments it takes, as its author writes them. */
  readonly argumentHint: string | null
  readonly argumentNames: readonly string[]
  /** Whether the model is told of it. Otherwise only people activate it. */
  readonly isForModel: boolean
  /** Whether people can call it as a slash command. */
  readonly isForPeople: boolean
  /** The tools that it asks for. Shown to people; nothing is allowed by it. */
  readonly allowedTools: readonly string[]
  /** Its text without the front matter. */
  readonly body: string
  readonly problems: readonly FileProblem[]
}

const namePattern = /^[a-z0-9]+(-[a-z0-9]+)*$/
const nameCharsMax = 64
const descriptionCharsMax = 1024

/** Reads the text of a SKILL.md. It never fails: what is wrong with the file is a problem, and the rest counts. */
export function parseSkill(folder: string, text: string): SkillFile {
  const { fields, body, problems } = readMarkdownFile(text)
  const description = fields.text('description') ?? firstParagraph(body)
  return {
    description,
    whenToUse: fields.text('when_to_use'),
    argumentHint: fields.source('argument-hint'),
    argumentNames: fields.list('arguments', { spaces: true }) ?? [],
    isForModel: fields.flag('disable-model-invocation') !== true,
    isForPeople: fields.flag('user-invocable') !== false,
    allowedTools: fields.list('allowed-tools', { spaces: true }) ?? [],
    body,
    problems: [...problems, ...findProblems(folder, fields.text('name'), description)],
  }
}

function findProblems(folder: string, name: string | null, description: string): readonly FileProblem[] {
  const messages: string[] = []
  if (!namePattern.test(folder) || folder.length > nameCharsMax)
    messages.push('The name of its folder should have only a–z, 0–9 and single hyphens, and at most 64 characters.')
  if (name !== null && name !== folder)
    messages.push(
      `Its file gives the name ${escapeLine(clip(name, 100))}. The skill is called ${escapeLine(folder)}, like its folder.`,
    )
  if (description === '') messages.push('It has no description, so the model cannot know when to use it.')
  if (description.length > descriptionCharsMax)
    messages.push(`Its description has more than ${descriptionCharsMax} characters.`)
  return messages.map((message) => ({ line: null, message }))
}

/** Returns the first paragraph that is not a heading, as one line. */
function firstParagraph(body: string): string {
  const paragraphs = body.split(/\n[ \t]*\n/).map((paragraph) => paragraph.replace(/^#+ .*$/gm, '').trim())
  return paragraphs.find((paragraph) => paragraph !== '')?.replace(/\s+/g, ' ') ?? ''
}
