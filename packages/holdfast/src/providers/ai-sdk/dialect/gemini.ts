import { type Dialect, efforts, hasText, plain } from './dialect.ts'

const types = /^(image\/(png|jpeg|webp)|application\/pdf)$/

/** A signature stands on the part it was given with: thought, words or call. */
export const gemini: Dialect = {
  ...plain,
  thinking: {
    ...plain.thinking,
    isThinker: (modelId) => /gemini-(2\.5|[3-9]|\d\d|flash|pro)/.test(modelId),
    ask: (level) => ({
      reasoning: efforts[level],
      ...(level !== 'off' && { options: { google: { thinkingConfig: { includeThoughts: true } } } }),
    }),
  },
  answers: {
    ...plain.answers,
    isPerModel: true,
    takesBlankText: (part) => hasText(part, 'google', 'thoughtSignature'),
  },
  files: { ...plain.files, types, typesUnasked: types },
  names: { ...plain.names, tools: /^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/ },
}
