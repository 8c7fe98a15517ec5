import { complaintIn, firstComplaint } from '../base/complaints.ts'
import type { GeminiRequest, WireContent, WirePart } from './wire.ts'

/** A signature from the service and the part it belongs to. */
export type GivenSignature = { readonly signature: string; readonly part: WirePart }

const namePattern = /^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$/
const mimePattern = /^(image\/(png|jpeg|webp|heic|heif)|application\/pdf|text\/[a-z-]+)$/
/** The signature that Google documents for calls made by another service. */
const noSignature = 'skip_thought_signature_validator'

type Turn = 'user' | 'response' | 'model' | 'call'

/** Returns the first error of Gemini's API for a history, with its own message, or null. */
export const complaintAbout = (
  { contents, tools = [] }: GeminiRequest,
  model: string,
  given: readonly GivenSignature[],
): string | null =>
  firstComplaint(
    contents.length === 0 ? '* GenerateContentRequest.contents: contents is not specified\n' : null,
    () =>
      complaintIn(tools, ({ functionDeclarations = [] }, tool) =>
        complaintIn(functionDeclarations, ({ name }, index) =>
          nameComplaint(`tools[${tool}].function_declarations[${index}].name`, name),
        ),
      ),
    () => complaintIn(contents, shape),
    () => complaintIn(contents, (content, index) => order(content, contents[index - 1])),
    () => ending(contents),
    () => complaintIn(contents, ({ parts }) => complaintIn(parts, (part) => signatureOf(part, given))),
    () => (isThinking(model) ? missingSignature(contents) : null),
  )

const isThinking = (model: string): boolean => /gemini-([3-9]|\d\d)/.test(model)

const nameComplaint = (at: string, name: string): string | null =>
  namePattern.test(name)
    ? null
    : `* GenerateContentRequest.${at}: Invalid function name. Must start with a letter or an underscore. Must be alphanumeric (a-z, A-Z, 0-9), underscores (_), dots (.), colons (:), or dashes (-), with a maximum length of 64.\n`

const callsOf = ({ parts }: WireContent) => parts.flatMap(({ functionCall }) => (functionCall ? [functionCall] : []))
const responsesOf = ({ parts }: WireContent) =>
  parts.flatMap(({ functionResponse }) => (functionResponse ? [functionResponse] : []))

function turnOf(content: WireContent): Turn {
  if (content.role === 'model') return callsOf(content).length > 0 ? 'call' : 'model'
  return responsesOf(content).length > 0 ? 'response' : 'user'
}

function shape(content: WireContent, index: number): string | null {
  const at = `contents[${index}].parts`
  if (content.role !== 'user' && content.role !== 'model') return 'Please use a valid role: user, model.'
  if (content.parts.length === 0) return `* GenerateContentRequest.${at}: contents.parts must not be empty.\n`
  return complaintIn(content.parts, (part, n) => {
    const { text, inlineData, functionCall, functionResponse } = part
    const data = [text, inlineData, functionCall, functionResponse].filter((one) => one !== undefined)
    if (data.length !== 1) {
      return `* GenerateContentRequest.${at}[${n}].data: required oneof field 'data' must have one initialized field\n`
    }
    if (inlineData && !mimePattern.test(inlineData.mimeType)) return `Unsupported MIME type: ${inlineData.mimeType}`
    if (text === '' && part.thoughtSignature === undefined) {
      return 'Unable to submit request because it has an empty text parameter. Add a value to the parameter and try again.'
    }
    return functionCall ? nameComplaint(`${at}[${n}].function_call.name`, functionCall.name) : null
  })
}

/** Checks the order of turns. A function response is a turn of its own, and a user turn may follow it. */
function order(content: WireContent, before: WireContent | undefined): string | null {
  const turn = turnOf(content)
  const last = before === undefined ? null : turnOf(before)
  if (turn === 'call') {
    return last === 'user' || last === 'response'
      ? null
      : 'Please ensure that function call turn comes immediately after a user turn or after a function response turn.'
  }
  if (turn === 'response') {
    return before === undefined || last !== 'call'
      ? 'Please ensure that function response turn comes immediately after a function call turn.'
      : answers(content, before)
  }
  if (last === 'call') return unequal
  const isDue = turn === 'user' ? last !== 'user' : last === 'user' || last === 'response'
  return isDue ? null : 'Please ensure that multiturn requests alternate between user and model.'
}

const unequal =
  'Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.'

function answers(content: WireContent, before: WireContent): string | null {
  const calls = callsOf(before)
  const responses = responsesOf(content)
  const ids = new Set(responses.map(({ id, name }, index) => id ?? `${name} ${index}`))
  const isPaired = responses.every(({ id, name }) =>
    calls.some((call) => call.name === name && (id === undefined || call.id === undefined || call.id === id)),
  )
  return responses.length === calls.length && ids.size === calls.length && isPaired ? null : unequal
}

function ending(contents: readonly WireContent[]): string | null {
  const last = contents.at(-1)
  return last?.role === 'user'
    ? null
    : 'Please ensure that multiturn requests ends with a user role or a function response.'
}

/** Checks that a signature is on the same part as in the answer. */
function signatureOf({ thoughtSignature, ...part }: WirePart, given: readonly GivenSignature[]): string | null {
  if (thoughtSignature === undefined || thoughtSignature === noSignature) return null
  const isGiven = given.some((known) => known.signature === thoughtSignature && sameData(known.part, part))
  return isGiven ? null : 'Corrupted thought signature.'
}

const sameData = (known: WirePart, part: WirePart): boolean =>
  dataOf(known) === dataOf(part) && (known.thought ?? false) === (part.thought ?? false)

const dataOf = ({ text, functionCall }: WirePart): string =>
  JSON.stringify(functionCall ? [functionCall.name, functionCall.args] : text)

/** Checks that in the running turn the first call of each answer has its signature. */
function missingSignature(contents: readonly WireContent[]): string | null {
  const running = contents.findLastIndex((content) => turnOf(content) === 'user')
  return complaintIn(contents, (content, index) => {
    const first = content.parts.find(({ functionCall }) => functionCall !== undefined)
    if (index < running || first === undefined || first.thoughtSignature !== undefined) return null
    return `Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional data, function call \`default_api:${first.functionCall?.name}\` , position ${index + 1}. Please refer to https://ai.google.dev/gemini-api/docs/thought-signatures for more details.`
  })
}
