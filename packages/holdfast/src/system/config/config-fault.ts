import { clip, didYouMean, escapeLine, type Fault, fault } from '@holdfast/protocol'
import { z } from 'zod'
import { Config } from './config.ts'

type Issue = z.core.$ZodIssue
type Schema = {
  readonly properties?: { readonly [name: string]: Schema }
  readonly additionalProperties?: Schema | boolean
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
}

const wordCharsMax = 100
const looksSecret = /key|token|secret|password/i

/** Returns a fault that names the source and key of an invalid setting and suggests a fix. It never quotes the value. */
export function configFault(from: string, error: z.ZodError): Fault {
  const [issue] = error.issues
  if (issue === undefined) return fault('bad_config', `${from} cannot be read as a configuration.`, { path: from })
  const { path, message } = explain(meantBy(issue))
  const key = path.map((part) => clip(escapeLine(String(part)), wordCharsMax)).join('.')
  return fault('bad_config', `${from}: ${key === '' ? '' : `${key}: `}${message}`, { path: from, key })
}

type Explained = { readonly path: readonly PropertyKey[]; readonly message: string }

function explain(issue: Issue): Explained {
  const { path } = issue
  if (issue.code === 'unrecognized_keys') {
    const [unknown = ''] = issue.keys
    return { path: [...path, unknown], message: unknownKey(unknown, path) }
  }
  if (issue.code === 'invalid_value') {
    const values = issue.values.map(String)
    const given = typeof issue.input === 'string' ? didYouMean(issue.input, values) : ''
    return { path, message: `it is one of ${values.join(', ')}.${given}` }
  }
  // The key of a table, for example of models, is not a valid name: zod's issue about the key has the reason.
  const [inner] = issue.code === 'invalid_key' ? issue.issues : []
  return { path, message: `${lowered(inner?.message ?? issue.message)}.` }
}

function unknownKey(unknown: string, path: readonly PropertyKey[]): string {
  const known = keysAt(z.toJSONSchema(Config, { io: 'input' }) as Schema, path) // the part of JSON Schema read here
  const near = didYouMean(unknown, known)
  if (path[0] === 'providers' && looksSecret.test(unknown) && unknown !== 'keyName')
    return `keys are not kept in this file. Run holdfast auth login ${String(path[1])}, or name the variable that holds it under keyName.`
  return `there is no such key.${near || ` There are: ${known.join(', ')}.`}`
}

/** Returns the keys that the schema allows at a path. */
function keysAt(schema: Schema, path: readonly PropertyKey[]): readonly string[] {
  const forms = schema.anyOf ?? [schema]
  const [first, ...rest] = path
  if (first === undefined) return forms.flatMap(({ properties = {} }) => Object.keys(properties))
  return forms.flatMap((form) => {
    const further = typeof form.additionalProperties === 'object' ? form.additionalProperties : undefined
    const next = typeof first === 'number' ? form.items : (form.properties?.[String(first)] ?? further)
    return next === undefined ? [] : keysAt(next, rest)
  })
}

/** Returns the issue of the union member that matched best. */
function meantBy(issue: Issue): Issue {
  if (issue.code !== 'invalid_union') return issue
  const inner = issue.errors.flat().find(({ path, code }) => path.length > 0 || code === 'unrecognized_keys')
  const other = inner ?? issue.errors.flat().find(({ code }) => code !== 'invalid_type')
  return other === undefined ? issue : meantBy({ ...other, path: [...issue.path, ...other.path] })
}

const lowered = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1)
