import { type Skills, skillTool, type Tool } from '@holdfast/core/ports'
import { limits, noSuchSkill, ok } from '@holdfast/protocol'
import { z } from 'zod'
import { resolveWorkdir } from '../../system/files/resolve-path.ts'
import { textArgument } from '../define/arguments.ts'
import { abortedResult, begun, defineTool, failedWith, foreseen } from '../define/define-tool.ts'

const input = z.strictObject({
  name: textArgument.min(1, 'must not be empty').describe('The name of the skill.'),
  arguments: textArgument
    .max(10_000, 'must not be longer than 10000 characters')
    .optional()
    .describe('What the skill is to work on, if it takes arguments.'),
  file: textArgument
    .min(1, 'must not be empty')
    .max(limits.toolPathCharsMax, `must not be longer than ${limits.toolPathCharsMax} characters`)
    .optional()
    .describe('A text file of the skill to read instead, relative to its folder.'),
})

/** Creates `skill`, by which the model activates a skill and reads its files. It is offered where there are skills. */
export function createSkillTool(skills: Skills): Tool {
  const tool = defineTool({
    name: skillTool,
    description:
      'Returns the instructions of a skill, which you follow from then on. With file, returns a file of the skill that its instructions mention.',
    input,
    changes: 'nothing',

    async preview(args, { workdir }) {
      const folder = await resolveWorkdir(workdir)
      return folder.ok ? ok({ preview: { type: 'arguments', args } }) : folder
    },

    async run({ name, arguments: given, file }, { workdir }, run) {
      if (!(await begun(run))) return abortedResult
      const names = [...(await listNames(skills, workdir)), ...(run.session?.skills ?? []).map((skill) => skill.name)]
      if (!names.includes(name)) return failedWith(noSuchSkill(name, names))
      if (file !== undefined) {
        const read = await skills.readFile({ workdir, name, path: file }).catch(foreseen)
        if (!read.ok) return failedWith(read.fault)
        return { type: 'ok', output: await toOutput(read.value, run) }
      }
      const request = { workdir, name, charsMax: limits.skillCharsMax }
      const read = await skills.read({ ...request, arguments: given }).catch(foreseen)
      if (!read.ok) return failedWith(read.fault)
      const { hash, text } = read.value
      const isKnown = run.session?.skills.some((skill) => skill.name === name && skill.hash === hash)
      if (isKnown && given === undefined)
        return { type: 'ok', output: { text: `The skill ${name} is active already, unchanged. Follow it.` } }
      return { type: 'ok', output: { text }, skill: { name, hash } }
    },
  })
  return {
    ...tool,
    async schemaIn(workdir) {
      const names = await listNames(skills, workdir)
      return names.length === 0 ? null : withNames(tool.schema, names)
    },
  }
}

/** Returns the names of the skills that the model may activate. */
const listNames = async (skills: Skills, workdir: string): Promise<readonly string[]> =>
  (await skills.list(workdir)).skills.flatMap(({ name, state }) =>
    state === 'listed' || state === 'cut' ? [name] : [],
  )

const toOutput = async (text: string, { storeOutput }: Parameters<Tool['run']>[2]) => {
  const bytes = Buffer.from(text)
  return bytes.length <= limits.toolOutputInlineBytesMax ? { text } : storeOutput([bytes])
}

/** Tells the model which names there are. */
function withNames(schema: Tool['schema'], names: readonly string[]): Tool['schema'] {
  const { properties } = schema.input as { readonly properties: { readonly name: object } } // of the schema above
  return {
    ...schema,
    input: { ...schema.input, properties: { ...properties, name: { ...properties.name, enum: names } } },
  }
}
