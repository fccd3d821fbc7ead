"""Step rules and schedules as their formulas have them, in NumPy."""

import math

import numpy as np


def sgd(x, g, m, s, t, rate):
    return x - rate * g, m, s


def momentum(x, g, m, s, t, rate, gamma=0.9):
    m = gamma * m + g
    return x - rate * m, m, s


def nesterov(x, g, m, s, t, rate, gamma=0.9):
    m = gamma * m + g
    return x - rate * (g + gamma * m), m, s


def adagrad(x, g, m, s, t, rate, eps=1e-8):
    s = s + g**2
    return x - rate * g / (np.sqrt(s) + eps), m, s


def rmsprop(x, g, m, s, t, rate, rho=0.9, eps=1e-8):
    s = rho * s + (1 - rho) * g**2
    return x - rate * g / (np.sqrt(s) + eps), m, s


def adam(x, g, m, s, t, rate, beta1=0.9, beta2=0.999, eps=1e-8):
    m, s = beta1 * m + (1 - beta1) * g, beta2 * s + (1 - beta2) * g**2
    return x - rate * (m / (1 - beta1**t)) / (np.sqrt(s / (1 - beta2**t)) + eps), m, s


def inverse(t, decay, power):
    return (1 + decay * t) ** -power


def step(t, factor, every):
    return factor ** math.floor(t / every)


def exponential(t, factor):
    return factor**t


def cosine(t, n_steps, least):
    return least + (1 - least) * (1 + math.cos(math.pi * min(t / n_steps, 1))) / 2
