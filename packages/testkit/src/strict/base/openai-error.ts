const types: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'invalid_request_error',
  403: 'invalid_request_error',
  404: 'invalid_request_error',
  429: 'rate_limit_error',
}

/** OpenAI's envelope for an error, the same in each of its APIs. */
export const openAiError = (status: number, message: string): object => ({
  error: { message, type: types[status] ?? 'server_error', param: null, code: null },
})
