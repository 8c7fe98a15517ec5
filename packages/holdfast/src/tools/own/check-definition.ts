import { clip, didYouMean, escapeLine, fault, HoldfastError } from '@holdfast/protocol'
import { badTool, isObject } from './tool-input.ts'

const fields = ['name', 'description', 'input', 'jsonSchema', 'destructive', 'readOnly', 'preview', 'run']

/** Checks a definition that a program without types may give, all but its input. Throws `bad_request`. */
export function checkDefinition(definition: unknown): void {
  if (!isObject(definition) || Array.isArray(definition)) throw new HoldfastError(noDefinition)
  const given = definition as { readonly [field: string]: unknown } // any object has fields
  const { name, description, jsonSchema, preview, run } = given
  checkName(name)
  const unknown = Object.keys(given).find((field) => !fields.includes(field))
  if (unknown !== undefined) {
    const hint = didYouMean(unknown, fields) || ` The fields are ${fields.join(', ')}.`
    throw badTool(name, `a definition has no field "${escapeLine(clip(unknown, 100))}".${hint}`)
  }
  if (typeof description !== 'string' || description.trim() === '')
    throw badTool(name, 'give it a description, which tells the model what it does and when to use it.')
  for (const field of ['destructive', 'readOnly'])
    if (given[field] !== undefined && typeof given[field] !== 'boolean')
      throw badTool(name, `${field} must be true or false.`)
  if (typeof run !== 'function') throw badTool(name, 'run must be a function, which makes the call.')
  if (preview !== undefined && typeof preview !== 'function')
    throw badTool(name, 'preview must be a function, which returns what a person is shown before they approve.')
  if (jsonSchema !== undefined && !isObject(jsonSchema)) throw badTool(name, 'jsonSchema must be a JSON Schema object.')
}

const noDefinition = fault(
  'bad_request',
  'defineTool needs a definition: defineTool({ name, description, input, run }).',
)

/** Checks the name of a tool. Throws `bad_request`. */
export function checkName(name: unknown): asserts name is string {
  if (typeof name !== 'string' || !/^[A-Za-z][\w-]{0,63}$/.test(name)) {
    const shown = name === undefined ? 'without a name' : escapeLine(clip(JSON.stringify(name) ?? typeof name, 100))
    throw badTool(shown, 'a name is a letter, then up to 63 letters, digits, _ and -.')
  }
  if (name.startsWith('mcp__'))
    throw badTool(name, 'names that begin with mcp__ belong to the tools of MCP servers. Choose another name.')
}
