import { fault, ok, type Result, refuse } from '@holdfast/protocol'
import type { JSONSchema7 } from 'json-schema'

type Json = Readonly<Record<string, unknown>>

const schemaCharsMax = 64 * 1024
const depthMax = 32

/**
 * Makes the schema of a server's tool one that every provider accepts: an object at the root, and nothing that must be fetched.
 * Refused: `bad_request`, if that cannot be done. One such schema would fail every request.
 */
export function readInputSchema(given: unknown): Result<JSONSchema7> {
  const no = (why: string): Result<never> => refuse(fault('bad_request', `Its input schema ${why}.`))
  if (!isObject(given)) return no('is not an object')
  if (JSON.stringify(given).length > schemaCharsMax) return no('is too long')
  const problem = findProblem(given, 0)
  if (problem !== null) return no(problem)
  const flat = flatten(given)
  const type = flat['type'] ?? 'object'
  if (type !== 'object') return no('is not one of an object')
  const { $schema: _, ...rest } = flat
  const properties = isObject(rest['properties']) ? rest['properties'] : {}
  const required = Array.isArray(rest['required'])
    ? rest['required'].filter((name) => Object.hasOwn(properties, name))
    : []
  return ok({ ...rest, type: 'object', properties, ...(required.length > 0 && { required }) } as JSONSchema7) // checked above
}

function findProblem(value: unknown, depth: number): string | null {
  if (depth > depthMax) return `is nested more than ${depthMax} levels deep`
  if (Array.isArray(value)) return firstProblem(value, depth)
  if (!isObject(value)) return null
  const { $ref } = value
  if (typeof $ref === 'string' && !$ref.startsWith('#')) return 'refers to another document'
  return firstProblem(Object.values(value), depth)
}

function firstProblem(values: readonly unknown[], depth: number): string | null {
  for (const value of values) {
    const problem = findProblem(value, depth + 1)
    if (problem !== null) return problem
  }
  return null
}

/** Merges alternatives at the root, which some providers refuse. The server checks the arguments itself. */
function flatten(schema: Json): Json {
  const { anyOf, oneOf, allOf, ...own } = schema
  const all = listOf(allOf).map(flatten)
  const any = [...listOf(anyOf), ...listOf(oneOf)].map(flatten)
  if (all.length + any.length === 0) return schema
  const parts = [own, ...all]
  const properties = Object.assign({}, ...[...any, ...parts].map((part) => part['properties']))
  const inAny = any.map((part) => new Set(namesOf(part)))
  const shared = any.length === 0 ? [] : [...(inAny[0] ?? [])].filter((name) => inAny.every((names) => names.has(name)))
  const required = [...new Set([...parts.flatMap(namesOf), ...shared])]
  return { ...own, properties, required }
}

const namesOf = (schema: Json): readonly string[] =>
  Array.isArray(schema['required']) ? schema['required'].filter((name) => typeof name === 'string') : []
const listOf = (value: unknown): readonly Json[] => (Array.isArray(value) ? value.filter(isObject) : [])
const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)
