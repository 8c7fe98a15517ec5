const types: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'invalid_request_error',
  403: 'invalid_request_error',
  404: 'invalid_request_error',
  429: 'rate_limit_error',
}

/** Returns the body of an error, the same in all APIs of OpenAI. */
export const openAiError = (status: number, message: string): object => ({
  error: { message, type: types[status] ?? 'server_error', param: null, code: null },
})

/** The rules of OpenAI for texts and names, with its own messages, the same in all its APIs. */
export const emptyArray = (at: string): string =>
  `Invalid '${at}': empty array. Expected an array with minimum length 1, but got an empty array instead.`

export const emptyText = (at: string): string =>
  `Invalid '${at}': empty string. Expected a string with minimum length 1, but got an empty string instead.`

export const tooLong = (at: string, text: string, max: number): string | null =>
  text.length <= max
    ? null
    : `Invalid '${at}': string too long. Expected a string with maximum length ${max}, but got a string with length ${text.length} instead.`

export function nameComplaint(at: string, name: string): string | null {
  if (name === '') return emptyText(at)
  if (!/^[a-zA-Z0-9_-]+$/.test(name)) {
    return `Invalid '${at}': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.`
  }
  return tooLong(at, name, 64)
}

/** Rejects incomplete arguments. OpenAI accepts them, but compatible services do not. The message is ours. */
export function argumentsComplaint(at: string, json: string): string | null {
  try {
    const value: unknown = JSON.parse(json)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return null
  } catch {
    // Invalid JSON is reported below.
  }
  return `Invalid '${at}': expected the JSON of an object.`
}

export const unreadableBody =
  "We could not parse the JSON body of your request. (HINT: This likely means you aren't using your HTTP library correctly. The OpenAI API expects a JSON payload, but what was sent was not valid JSON.)"
