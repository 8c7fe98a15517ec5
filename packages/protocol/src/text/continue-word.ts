/**
 * What a model is told where nobody spoke: between two answers, or after a cut one. Built into requests, and known by
 * models that are scripts.
 */
export const continueWord = 'Continue.'
